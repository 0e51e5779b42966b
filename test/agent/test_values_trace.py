"""The trace log: its lines, its file, its limits."""

from __future__ import annotations

import json

import pytest
import torch
from scanpoint_agent import calls, modules, trace, trace_file
from torch.utils._python_dispatch import _get_current_dispatch_mode
from values_model import TEXT

pytest_plugins = ["agent_fixtures"]


@pytest.fixture
def user(agent, packages):
    agent.start()
    yield packages("user_train", TEXT)
    agent.ask("trace", level="off")


def lines(agent) -> list[dict]:
    return [body["trace"] for body in agent.sent if "trace" in body]


def test_boundaries(agent, user, tmp_path) -> None:
    file = tmp_path / "trace.jsonl"
    assert agent.ask("trace", level="boundaries", file=str(file)) == {"level": "boundaries"}
    model = user.make()
    model(torch.randn(2, 3, 8, 8))
    agent.ask("trace", level="off")
    found = lines(agent)
    scans = [f for f in found if "selective_scan" in f["site"]]
    assert [f["phase"] for f in scans] == ["entry", "exit"] * 4
    assert scans[1]["site"].startswith("layers.0.mixer:selective_scan forward")
    assert [t["name"] for t in scans[1]["tensors"]] == ["y"]
    y = scans[1]["tensors"][0]
    assert (y["dtype"], y["shape"], y["nan"]) == ("float32", [2, 32, 5], 0)
    assert y["min"] < y["mean"] < y["max"]
    assert scans[1]["file"].endswith("vim_pytorch.py")
    assert "selective_scan forward" in scans[1]["text"]
    assert f"vim_pytorch.py:{scans[1]['line']})" in scans[1]["text"]
    written = [json.loads(line) for line in file.read_text().splitlines()]
    assert written == [{k: v for k, v in f.items() if k != "text"} for f in found]
    assert not any(f["site"] == "layers.0" for f in found)


def test_the_level_changes_while_it_runs(agent, user) -> None:
    model, images = user.make(), torch.randn(2, 3, 8, 8)
    agent.ask("trace", level="modules")
    model(images)
    sites = {f["site"] for f in lines(agent)}
    assert {"layers.0.mixer.conv1d", "layers.1", "(model)"} <= sites
    agent.sent.clear()
    agent.ask("trace", level="off")
    model(images)
    assert lines(agent) == []
    assert trace._on_call not in calls.observers
    assert trace._on_module not in modules.observers


def test_operations(agent, user, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "LINES_PER_SECOND", 10_000)
    model, images = user.make(), torch.randn(2, 3, 8, 8)
    agent.ask("trace", level="ops")
    model(images)
    sites = [f["site"] for f in lines(agent) if f["phase"] == "op"]
    assert "exp.default" in sites
    assert "view.default" not in sites
    agent.ask("trace", level="off")
    model(images)
    assert _get_current_dispatch_mode() is None


def test_the_file_is_bounded(agent, tmp_path) -> None:
    file = tmp_path / "trace.jsonl"
    sink = trace_file.Sink(str(file), max_bytes=150)
    for i in range(10):
        sink.put(trace.Measured({"site": f"s{i}", "phase": "exit", "step": None}, {}).line())
    sink.close()
    assert 0 < file.stat().st_size <= 150
    assert all(json.loads(line) for line in file.read_text().splitlines())
    assert agent.output().count("is full") == 1


def test_the_channel_is_bounded(agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "LINES_PER_SECOND", 5)
    monkeypatch.setattr(trace_file.time, "monotonic", lambda: 7.0)
    sink = trace_file.Sink(None)
    for i in range(12):
        sink.put(trace.Measured({"site": f"s{i}", "phase": "exit", "step": None}, {}).line())
    sink.close()
    found = lines(agent)
    assert len(found) == 6
    assert found[-1] == {"text": "7 more lines were not shown", "dropped": 7}


def test_numbers_that_are_on_their_way_are_waited_for_at_the_end(agent, user) -> None:
    """What a GPU gives later comes in the order of the sites, and none is lost."""

    class Later:
        done = False

        def __init__(self, name: str):
            self.measured = trace.Measured(
                {"site": name, "phase": "exit", "step": None}, {"x": torch.ones(2)}
            )

        def ready(self) -> bool:
            return Later.done

        def line(self):
            return self.measured.line()

    agent.ask("trace", level="boundaries")
    trace._State.pending.extend(Later(name) for name in "abc")
    trace._note("d", "exit", None, {"x": torch.ones(2)})
    assert lines(agent) == []
    agent.ask("trace", level="off")
    assert [f["site"] for f in lines(agent)] == ["a", "b", "c", "d"]


def test_an_unknown_level_is_refused(agent) -> None:
    with pytest.raises(RuntimeError, match="no trace level 'all'; choose off, boundaries"):
        agent.ask("trace", level="all")
