"""The first NaN (or Inf) of a step is told; what follows from it in that step is not."""

from __future__ import annotations

from . import steps

# By filter: the step, and the path of the module that it was told of.
_told: dict[str, tuple[object, str]] = {}


def already(which: str) -> bool:
    """Whether a filter has stopped in this step."""
    return which in _told and _told[which][0] == steps.current()


def something(around: str | None = None) -> bool:
    """Whether any filter has stopped in this step; with a path, inside of that module."""
    now_ = steps.current()
    paths = [path for step, path in _told.values() if step == now_]
    if around is None:
        return bool(paths)
    return any(around in ("", path) or path.startswith(around + ".") for path in paths)


def now(which: str, path: str = "") -> None:
    """A filter stops in this step."""
    _told[which] = (steps.current(), path)


def clear() -> None:
    """Forgets what was told."""
    _told.clear()
