"""The agent in the test's own process: what it sends is recorded, what it changed is undone."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

from scanpoint_agent import call, calls

EXAMPLES = str(Path(__file__).parents[2] / "examples")


class Agent:
    """The agent, with all that it sent in `sent` and all stops in `stops`."""

    def __init__(self):
        self.sent: list[dict] = []
        self.stops: list[dict] = []
        self.seen: list[calls.Call] = []

    def ask(self, method: str, **args):
        """The result of a method; raises with its sentence when it could not answer."""
        call(json.dumps({"id": 5, "method": method, "args": args}))
        reply = self.sent[-1]["reply"]
        assert reply["id"] == 5
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["result"]

    def start(self, **settings) -> dict:
        """Starts it with these settings."""
        return self.ask("start", settings=settings)

    def probes(self, *specs: dict) -> list[dict]:
        """Sets breakpoints; ids are 1, 2, ..."""
        return self.ask("setProbes", probes=[{"id": i, **s} for i, s in enumerate(specs, 1)])

    def observe(self) -> list[calls.Call]:
        """All calls of boundaries from now on, as they come."""
        calls.observers.append(self.seen.append)
        return self.seen

    def output(self) -> str:
        """What it wrote to the Debug Console."""
        return "".join(body["output"]["text"] for body in self.sent if "output" in body)


def boundary(name: str = "selective_scan", phase: str = "entry", **more) -> dict:
    """The spec of a boundary breakpoint; `grad=True` for its backward pass."""
    target = {"kind": "boundary", "boundary": name, "phase": phase}
    if more.pop("grad", False):
        target["pass"] = "backward"
    return {"target": target, **more}


class Importer:
    """Makes modules of a person's own, and imports them and the family's."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, name: str, text: str | None = None):
        if text is not None:
            (self.folder / f"{name}.py").write_text(text)
            importlib.invalidate_caches()
        return importlib.import_module(name)
