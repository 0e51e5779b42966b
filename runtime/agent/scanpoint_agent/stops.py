"""Stopping at a boundary: a frame of its own, with the call's tensors as variables."""

from __future__ import annotations

import ast
import keyword
import sys
import threading
from collections.abc import Sequence
from types import CodeType, FrameType, FunctionType
from typing import ClassVar

from . import channel, pydevd
from .calls import Call


class _Stopped:
    """What each thread is stopped at, by the client's thread id."""

    calls: ClassVar[dict[int | None, Call]] = {}
    bodies: ClassVar[dict[int | None, dict]] = {}


_codes: dict[tuple, CodeType] = {}


def stop(
    reason: str,
    description: str,
    text: str,
    call: Call | None,
    frame: FrameType | None = None,
    probe_ids: Sequence[int] = (),
) -> None:
    """Suspends this thread until the client resumes it; does nothing when no client is there.

    It stops in `frame`, or in a frame made for the call: in the function's own file, at its first
    line (entry) or last line (exit), with the call's tensors and arguments as local variables.
    """
    if not pydevd.attached():
        return
    thread = pydevd.thread_id()
    body = {
        "threadId": thread,
        "reason": reason,
        "description": description,
        "text": text,
        "phase": _phase(call),
        "probeIds": list(probe_ids),
        "site": call.site() if call else None,
    }
    _Stopped.bodies[thread] = body
    if call is not None:
        _Stopped.calls[thread] = call
    channel.send({"stop": body})
    try:
        if frame is not None:
            if not pydevd.suspend(frame):
                pydevd.suspend_at_next_line(frame)
        elif call is not None:
            _enter(call)
    finally:
        _Stopped.calls.pop(thread, None)
        _Stopped.bodies.pop(thread, None)


def _phase(call: Call | None) -> str | None:
    """Whether a boundary is entered or left; modules and gradients have nothing to open."""
    return call.phase if call and call.boundary not in ("module", "gradient") else None


def current(thread_id: int | None) -> Call | None:
    """The call that a thread is stopped at."""
    return _Stopped.calls.get(thread_id)


def last_stop(args: dict) -> dict | None:
    """The body of the stop that a thread is in."""
    return _Stopped.bodies.get(args.get("threadId"))


METHODS = {"lastStop": last_stop}


class _Token(threading.local):
    """Stands in the code of a made frame as a constant, so that no variable shows it."""

    stopped = False

    def stop(self) -> None:
        """Called twice in a row by a made frame: the first call suspends in it."""
        if self.stopped:
            self.stopped = False
            return
        frame = sys._getframe(1)
        if not pydevd.suspend(frame):
            # The public way stops at the next line of the frame, where the second call is.
            pydevd.suspend_at_next_line(frame)
        self.stopped = True


_TOKEN = _Token()
_MARK = "scanpoint: stop here"


def _enter(call: Call) -> None:
    names = {key: value for key, value in variables(call).items() if _is_name(key)}
    original = call.original
    place = original.__code__ if original is not None else sys._getframe().f_code
    scope = original.__globals__ if original is not None else {"__name__": "scanpoint"}
    code = _code_for(place, call.phase, tuple(names))
    pydevd.show(code)
    FunctionType(code, scope, place.co_name)(*names.values())


def variables(call: Call) -> dict[str, object]:
    """The variables of a stop: tensors by the paper's names first, then the code's, the counters."""
    return {**call.tensors, **call.arguments, **call.tensors, **call.counters()}


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _code_for(place: CodeType, phase: str, names: tuple[str, ...]) -> CodeType:
    """Code of a function with `names` as parameters that stops, at a line of another function."""
    key = (place, phase, names, pydevd.probe())
    if key not in _codes:
        line = place.co_firstlineno if phase == "entry" else last_line(place)
        source = (
            f"def {function_name(place)}({', '.join(names)}): {_MARK!r}.stop(); {_MARK!r}.stop()"
        )
        tree = ast.parse(source)
        _put_on_line(tree, line)
        if not pydevd.probe():
            _put_on_line(tree.body[0].body[0], line + 1)
        module = compile(tree, place.co_filename, "exec", dont_inherit=True)
        code = next(const for const in module.co_consts if isinstance(const, CodeType))
        constants = tuple(_TOKEN if const == _MARK else const for const in code.co_consts)
        _codes[key] = code.replace(co_consts=constants)
    return _codes[key]


def _put_on_line(tree: ast.AST, line: int) -> None:
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0


def function_name(place: CodeType) -> str:
    """A name for a `def`: that of the code, unless it is a lambda's or a comprehension's."""
    return place.co_name if _is_name(place.co_name) else "function"


def last_line(code: CodeType) -> int:
    """The last line of a function that has code of its own."""
    if hasattr(code, "co_lines"):
        lines = [line for _, _, line in code.co_lines() if line is not None]
    else:
        import dis

        lines = [line for _, line in dis.findlinestarts(code)]
    return max(lines, default=code.co_firstlineno)
