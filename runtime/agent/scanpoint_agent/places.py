"""What a stack frame of a stopped thread is: the boundary's own frame, or one of the program."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import NamedTuple

from . import pydevd, references, stops
from .calls import Call
from .facts import is_tensor


class Place(NamedTuple):
    """A frame, its thread, and the call of a boundary that the thread is stopped at, if any.

    `call` is there for the frame of the boundary only, not for the ones that called it.
    """

    thread: int | None
    frame: FrameType | None
    call: Call | None


def of_frame(frame_id: int | None) -> Place:
    """The place of a frame id; without one, that of any thread stopped at a boundary.

    Raises LookupError in one sentence.
    """
    if frame_id is None:
        for thread, call in reversed(list(stops._Stopped.calls.items())):
            return Place(thread, None, call)
        raise LookupError("Select a stack frame: no thread is stopped at a boundary.")
    thread, frame = references.frame(frame_id)
    call = stops.current(thread)
    return Place(thread, frame, call if call is not None and _is_of(frame, call) else None)


def _is_of(frame: FrameType, call: Call) -> bool:
    """Whether a frame is the one that was made for the call, or that the call was stopped in."""
    return stops._TOKEN in frame.f_code.co_consts or frame is call.frame


def local_tensors(frame: FrameType | None) -> dict[str, object]:
    """The tensors among a frame's local variables."""
    if frame is None:
        return {}
    found = dict(frame.f_locals)
    return {name: value for name, value in found.items() if is_tensor(value)}


class _Stop:
    number = 0
    seen: object = None
    t: int | None = None


def stop_number(t: int | None = None) -> int:
    """Changes with every stop, and with every step of an open scan."""
    debugger = pydevd.debugger_object()
    manager = getattr(debugger, "suspended_frames_manager", None)
    trackers = tuple(getattr(manager, "_thread_id_to_tracker", {}).values())
    seen = _Stop.seen() if isinstance(_Stop.seen, weakref.ref) else None
    newest = trackers[-1] if trackers else None
    if newest is not seen or t != _Stop.t:
        _Stop.number += 1
        _Stop.seen = weakref.ref(newest) if newest is not None else None
        _Stop.t = t
    return _Stop.number
