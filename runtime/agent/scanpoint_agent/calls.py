"""One call of a boundary: its tensors by the paper's names, and where in the model it happens."""

from __future__ import annotations

import copy
from types import FrameType
from typing import Callable

from . import directions, guarded, modules, steps
from .targets import CONV, SCAN, Target
from .watched import Watched

# Who wants to know of a boundary's calls. Wrapped functions look at their boundary's list: while it
# is empty, a call costs one look.
live: dict[str, list[Callable[[Call], None]]] = {SCAN: [], CONV: []}


def _refresh() -> None:
    for boundary, listeners in live.items():
        listeners[:] = [h for h in handlers if boundary in h.boundaries] + observers


# Breakpoints, called first; each says by `boundaries` which it wants. Then those who watch all.
handlers: Watched = Watched(_refresh)
observers: Watched = Watched(_refresh)

_occurrences: dict[tuple[str, str, str | None], int] = {}


class Call:
    """One call of a boundary, at its entry or, as a copy, at its exit.

    `boundary`: "selective_scan" or "causal_conv1d"; "module" or "gradient" at the stops of those
    breakpoints. `tensors`: by the paper's names, y (and h, the last state) at exit. `arguments`:
    everything that was passed, by the code's names. `inputs`: the tensors that were passed.
    `original`: the function without our wrapper. `instance`: the module that is being called.
    `note`: what is special about this boundary, or "".
    """

    boundary = ""
    function = ""
    phase = "entry"
    module = ""
    layer: int | None = None
    direction: str | None = None
    occurrence = 1
    step: int | None = None
    rank: int | None = None
    t: int | None = None
    frame: FrameType | None = None
    original: Callable | None = None
    instance: object = None
    result: object = None
    note = ""
    in_backward = False

    def __init__(self, boundary: str, function: str):
        self.boundary = boundary
        self.function = function
        self.tensors: dict[str, object] = {}
        self.inputs: dict[str, object] = {}
        self.arguments: dict[str, object] = {}

    def site(self) -> dict:
        """Where this is, as `Site` of src/protocol/site.ts."""
        site: dict[str, object] = {"module": self.module}
        if self.boundary in ("selective_scan", "causal_conv1d"):
            site["op"] = self.boundary
        if self.direction:
            site["direction"] = self.direction
        if self.t is not None:
            site["t"] = self.t
        if self.in_backward:
            site["pass"] = "backward"
        if self.occurrence > 1:
            site["occurrence"] = self.occurrence
        return site

    def names(self) -> dict[str, object]:
        """All that a condition may name: tensors, arguments, and the site's counters."""
        return {**self.arguments, **self.tensors, **self.counters()}

    def counters(self) -> dict[str, object]:
        """The numbers and words that say where and when this call is."""
        counters = {
            "layer": self.layer,
            "direction": self.direction,
            "module": self.module,
            "phase": self.phase,
            "occurrence": self.occurrence,
            "step": self.step,
            "rank": self.rank,
        }
        return counters if self.t is None else {**counters, "t": self.t}

    def at_exit(self, target: Target, result: object) -> Call:
        """The same call once its function has returned `result`."""
        call = copy.copy(self)
        call.phase = "exit"
        call.result = result
        call.tensors = {**self.tensors, **target.results(result)}
        return call


def begin(target: Target, function: str, arguments: dict, frame: FrameType) -> Call | None:
    """The call of a function that is a boundary; None when it gets no tensors worth a stop."""
    tensors = target.tensors(arguments)
    if len(tensors) < 2 or not all(map(guarded.has_values, tensors.values())):
        return None
    call = Call(target.boundary, function)
    call.arguments, call.tensors, call.inputs = arguments, tensors, tensors
    call.frame, call.note = frame, target.note
    place = modules.locate(frame)
    if place is not None:
        call.module, call.instance = place.path, place.module
        call.layer = modules.layer_of(place.path)
        call.direction = directions.direction(target, tensors, place)
    key = (call.module, call.boundary, call.direction)
    call.occurrence = _occurrences[key] = _occurrences.get(key, 0) + 1
    call.step, call.rank = steps.current(), steps.rank()
    return call


def tell(call: Call) -> None:
    """Hands a call to the breakpoints and then to the observers; each is guarded on its own."""
    for listener in tuple(live[call.boundary]):
        guarded.run(
            f"{getattr(listener, '__name__', listener)} at {call.function}",
            listener,
            call,
            disarm=lambda listener=listener: forget(listener),
        )


def forget(listener: Callable[[Call], None]) -> None:
    """Takes a listener out of both lists."""
    handlers.discard(listener)
    observers.discard(listener)


def reset() -> None:
    """Counts calls from the start again."""
    _occurrences.clear()
