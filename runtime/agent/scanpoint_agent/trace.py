"""The trace log: a line per site, at the level that the person chooses while the program runs."""

from __future__ import annotations

import sys
from collections import deque
from typing import ClassVar

from . import calls, modules, steps
from .badvalues import tensors_in
from .calls import Call
from .everyop import EveryOp, Look, is_view, name_of
from .sitetext import site_text
from .trace_file import Sink
from .trace_lines import Measured
from .userframes import innermost

LEVELS = ("off", "boundaries", "modules", "ops")
# Sites whose numbers are on their way; more are waited for.
MAX_PENDING = 256


class _State:
    level = "off"
    sink: Sink | None = None
    pending: ClassVar[deque] = deque()
    ops: EveryOp | None = None


def trace(args: dict) -> dict:
    """Sets the level ("off", "boundaries", "modules", "ops") and the file of JSON lines, if any."""
    level = args.get("level") or "off"
    if level not in LEVELS:
        raise ValueError(f"There is no trace level {level!r}; choose {', '.join(LEVELS)}.")
    _finish()
    _State.level = level
    if level != "off":
        _State.sink = Sink(args.get("file"))
    _listen(calls.observers, _on_call, level != "off")
    _listen(modules.observers, _on_module, level in ("modules", "ops"))
    if level == "ops":
        _State.ops = _State.ops or EveryOp(_Ops())
        _State.ops.start()
    elif _State.ops is not None:
        _State.ops.stop()
    return {"level": level}


METHODS = {"trace": trace}


def _listen(listeners, listener, wanted: bool) -> None:
    listeners.discard(listener)
    if wanted:
        listeners.append(listener)


def _finish() -> None:
    """Writes what is still on its way, and ends the file."""
    while _State.pending:
        _write(_State.pending.popleft())
    if _State.sink is not None:
        _State.sink.close()
        _State.sink = None


def _on_call(call: Call) -> None:
    tensors = call.inputs
    if call.phase == "exit":
        tensors = {n: t for n, t in call.tensors.items() if call.inputs.get(n) is not t}
    _note(site_text(call), call.phase, call.step, tensors)


def _on_module(path: str, _module, _inputs, outputs) -> None:
    _note(path or "(model)", "exit", steps.current(), tensors_in(outputs, "output"))


class _Ops(Look):
    """A line per operation that computes something."""

    def after(self, func, args: tuple, kwargs: dict, result, state) -> None:
        """Notes the result."""
        if not is_view(func):
            _note(name_of(func), "op", steps.current(), tensors_in(result, "output"))


def _note(site: str, phase: str, step: int | None, tensors: dict[str, object]) -> None:
    """Starts a line, and writes those whose numbers are there."""
    if not tensors or _State.sink is None:
        return
    frame = innermost(sys._getframe())
    fields = {"site": site, "phase": phase, "step": step, "rank": steps.rank()}
    if frame is not None:
        fields.update(file=frame.f_code.co_filename, line=frame.f_lineno)
    _State.pending.append(Measured(fields, tensors))
    while _State.pending and (_State.pending[0].ready() or len(_State.pending) > MAX_PENDING):
        _write(_State.pending.popleft())


def _write(measured: Measured) -> None:
    if _State.sink is not None:
        _State.sink.put(measured.line())
