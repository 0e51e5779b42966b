"""The fixtures of the agent's tests in the test's own process."""

from __future__ import annotations

import importlib
import sys

import family
import pytest
from harness import Agent, Importer
from scanpoint_agent import channel, stops


@pytest.fixture
def agent(monkeypatch):
    """A started agent whose stops are recorded in place of suspending; it is detached at the end."""
    found = Agent()
    undo = channel.record(found.sent)

    def stop(reason, description, text, call, frame=None, probe_ids=()):
        found.stops.append(
            {"reason": reason, "description": description, "text": text, "call": call,
             "site": call.site(), "probes": list(probe_ids), "variables": stops.variables(call)}
        )  # fmt: skip

    monkeypatch.setattr(stops, "stop", stop)
    yield found
    found.ask("detach")
    undo()


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Imports modules by name from small packages of the Mamba family, and forgets them after."""
    family.write(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    importlib.invalidate_caches()
    yield Importer(tmp_path)
    for name in set(sys.modules) - before:
        if name.startswith(("mamba_ssm", "causal_conv1d", "vim_pytorch", "user_")):
            del sys.modules[name]
