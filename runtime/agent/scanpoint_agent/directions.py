"""Forward or backward: which of the two scans of a bidirectional mixer a call is."""

from __future__ import annotations

from . import modules
from .targets import Target

# Attributes that only a mixer with a scan from right to left has (Vim's names).
_BACKWARD_NAMES = ("A_b_log", "A_b", "D_b", "conv1d_b", "dt_proj_b", "x_proj_b")


def direction(target: Target, tensors: dict[str, object], place: modules.Place) -> str | None:
    """The direction of a call inside a mixer; None where the mixer has only one."""
    if target.both_directions or place.frame is None:
        return None
    number = modules.count_in(place.frame, target.boundary)
    flipped = _flipped(tensors)
    if not _has_backward(place.module):
        return "backward" if flipped else None
    own = _by_parameter(tensors, place.module)
    return own or ("backward" if flipped or number % 2 else "forward")


def _has_backward(mixer: object) -> bool:
    # Asking a module for a name that it lacks is slow, so its tables are asked.
    tables = (getattr(mixer, "_parameters", {}), getattr(mixer, "_modules", {}))
    return any(name in table for table in tables for name in _BACKWARD_NAMES)


def _by_parameter(tensors: dict[str, object], mixer: object) -> str | None:
    """A parameter that is passed as it is tells the direction, where each has its own."""
    pairs = (
        ("D", getattr(mixer, "D", None), getattr(mixer, "D_b", None)),
        ("delta_bias", _bias(mixer, "dt_proj"), _bias(mixer, "dt_proj_b")),
        ("weight", _weight(mixer, "conv1d"), _weight(mixer, "conv1d_b")),
    )
    for name, forward, backward in pairs:
        tensor = tensors.get(name)
        if tensor is None or backward is None:
            continue
        if _same(tensor, backward):
            return "backward"
        if _same(tensor, forward):
            return "forward"
    return None


def _bias(mixer: object, name: str) -> object:
    return getattr(getattr(mixer, name, None), "bias", None)


def _weight(mixer: object, name: str) -> object:
    return getattr(getattr(mixer, name, None), "weight", None)


def _same(a, b) -> bool:
    """Whether two tensors share their first element, as a view of a parameter does."""
    try:
        return a is b or a.data_ptr() == b.data_ptr() != 0
    except (AttributeError, RuntimeError):
        return False


def _flipped(tensors: dict[str, object]) -> bool:
    """Whether autograd says that an input is another tensor, flipped."""
    nodes = (getattr(tensors.get(name), "grad_fn", None) for name in ("u", "z", "xz", "x"))
    return any(type(node).__name__ == "FlipBackward0" for node in nodes)
