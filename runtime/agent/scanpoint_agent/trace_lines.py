"""Lines of the trace log: the statistics of a site, waited for only when the device has them."""

from __future__ import annotations

import math
from typing import NamedTuple

from . import guarded
from .budget import Budget
from .kinds import readable
from .ondevice import Waiting
from .quiet import quiet, unreadable
from .statistics import Statistics
from .summary import joined, layout, statistics_of
from .text import format_summary

_KEPT = ("dtype", "device", "shape", "nan", "posInf", "negInf", "min", "max", "mean", "std")


class Line(NamedTuple):
    """One site: what is known at once, and the summaries of its tensors."""

    fields: dict
    summaries: dict[str, dict]

    def text(self) -> str:
        """For the output channel."""
        f = self.fields
        step = f"step {f['step']} " if f.get("step") is not None else ""
        words = [f"{name} {format_summary(s)}" for name, s in self.summaries.items()]
        at = f"  ({f['file']}:{f['line']})" if f.get("file") else ""
        return f"{step}{f['site']} {f['phase']}: {'; '.join(words)}{at}"

    def record(self) -> dict:
        """For the file."""
        tensors = [
            {"name": name, **{key: s[key] for key in _KEPT}} for name, s in self.summaries.items()
        ]
        return {**self.fields, "tensors": tensors}


class Measured:
    """The tensors of a site whose statistics are on their way."""

    def __init__(self, fields: dict, tensors: dict[str, object]):
        self._fields = fields
        self._names = list(tensors)
        on_cpu = all(tensor.device.type != "cuda" for tensor in tensors.values())
        self._copy = None
        with quiet():
            self._layouts = [layout(tensor) for tensor in tensors.values()]
            if not on_cpu and not unreadable():
                self._copy = _Copy(list(tensors.values()))
                return
        limit = Budget(ms=math.inf)
        self._results = statistics_of(list(tensors.values()), limit)

    def ready(self) -> bool:
        """Whether the line can be made without waiting."""
        return self._copy is None or self._copy.ready()

    def line(self) -> Line:
        """The line; waits for the device where it has to."""
        results = self._results if self._copy is None else self._copy.results()
        pairs = zip(self._names, self._layouts, results)
        return Line(self._fields, {name: joined(facts, *result) for name, facts, result in pairs})


class _Copy:
    """Statistics that a GPU writes into the memory of the host, with a mark behind them."""

    def __init__(self, tensors: list):
        torch = guarded.torch()
        self._waiting = Waiting()
        self._sources = [readable(tensor) for tensor in tensors]
        self._places = [
            None if s.data is None else self._waiting.add(s.data, 0, torch) for s in self._sources
        ]
        device = next(tensor.device for tensor in tensors if tensor.device.type == "cuda")
        vectors = [v.to(device, non_blocking=True) for v in self._waiting.vectors]
        self._sizes = [v.numel() for v in vectors]
        together = torch.cat(vectors)
        self._host = torch.empty(together.shape, dtype=together.dtype, pin_memory=True)
        self._host.copy_(together, non_blocking=True)
        self._mark = torch.cuda.Event()
        self._mark.record(torch.cuda.current_stream(device))

    def ready(self) -> bool:
        """Whether the GPU has come so far."""
        return self._mark.query()

    def results(self) -> list[tuple[Statistics | None, object]]:
        """Waits for it."""
        self._mark.synchronize()
        parts = self._host.split(self._sizes)
        found = [self._waiting.finish(part, i) for i, part in enumerate(parts)]
        pairs = zip(self._places, self._sources)
        return [(None if place is None else found[place], source) for place, source in pairs]
