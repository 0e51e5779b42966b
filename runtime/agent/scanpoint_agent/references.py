"""From debugpy's numbers for variables and frames to the objects that they stand for.

All private names of debugpy's variables are used here only; a missing one is a LookupError with
one sentence, and debugpy's own answer stays.
"""

from __future__ import annotations

import sys
from types import FrameType

from . import describe, pydevd
from .facts import is_a

_GONE = "This variable belongs to a stop that is over; look at the current one."


def frame(frame_id: int) -> tuple[int | None, FrameType]:
    """The client's thread id and the frame of a frame id. Raises LookupError."""
    debugger, own = _debugger(), pydevd.object_id(frame_id)
    manager = debugger.suspended_frames_manager
    thread = manager.get_thread_id_for_variable_reference(own)
    found = debugger.find_frame(thread, own) if thread is not None else None
    if found is None:
        raise LookupError(_GONE)
    return _client_id(thread), found


def _client_id(thread: object) -> int | None:
    schema = sys.modules.get("_pydevd_bundle._debug_adapter.pydevd_base_schema")
    return schema.BaseSchema._translate_id_to_dap(thread) if schema else None


def value(reference: int) -> object:
    """The object of a variablesReference: for a scope, a dict of its names. Raises LookupError."""
    own = pydevd.object_id(reference)
    # A scope is a frame's id together with "locals" or "globals".
    scope = getattr(own, "scope", "locals")
    own = getattr(own, "variable_reference", own)
    try:
        variable = _debugger().suspended_frames_manager.get_variable(own)
    except KeyError:
        raise LookupError(_GONE) from None
    found = variable.value
    if is_a(found, FrameType):
        return Scope(found.f_globals if scope == "globals" else found.f_locals)
    return found


class Scope(dict):
    """The variables of a frame, by their names."""


def child(parent: object, name: str) -> object:
    """The child that debugpy, or we, call by that name. Raises KeyError."""
    if is_a(parent, Scope):
        return parent[name]
    grouped = getattr(parent, "contents_debug_adapter_protocol", None)
    if grouped is not None:
        return next(item for own, item, _ in grouped if own == name)
    try:
        return describe.member(parent, name)
    except KeyError:
        inner = getattr(parent, "__dict__", {})
        return inner[name] if name in inner else getattr_of(parent, name)


def getattr_of(parent: object, name: str) -> object:
    """An attribute that is not in the object's own dict. Raises KeyError."""
    try:
        return getattr(parent, name)
    except Exception:  # noqa: BLE001 - a property may raise anything
        raise KeyError(name) from None


def walk(reference: int, names: list[str]) -> object:
    """The object at the end of a path of names. Raises LookupError in one sentence."""
    found = value(reference)
    for name in names:
        try:
            found = child(found, name)
        except (KeyError, StopIteration):
            raise LookupError(f"There is no {name} any more.") from None
    return found


def _debugger():
    debugger = pydevd.debugger_object()
    if debugger is None or not hasattr(debugger, "suspended_frames_manager"):
        raise LookupError("debugpy does not say what stands behind a variable here.")
    return debugger
