"""What stands in the Variables view without being an object of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import guarded


def is_a(value: object, kinds: type | tuple[type, ...]) -> bool:
    """`isinstance` by the real type: a proxy may raise when asked for its `__class__`."""
    return issubclass(type(value), kinds)


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor."""
    torch = guarded.torch()
    return torch is not None and is_a(value, torch.Tensor)


class Fact(NamedTuple):
    """A line without children: a text that we made."""

    text: str
    type: str = ""


class Rows(NamedTuple):
    """Lines of one subject, folded into one."""

    rows: Sequence[tuple[str, object]]
    text: str = ""


_PLAIN = (int, float, bool, str, bytes, type(None), complex)
_LONGEST = 60


def short(value: object) -> str:
    """A value in a few characters; only plain ones are asked for their text."""
    if is_a(value, type):
        return value.__name__
    if type(value) in _PLAIN:
        text = repr(value if not isinstance(value, (str, bytes)) else value[:_LONGEST])
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    if is_a(value, (list, tuple, dict, set, frozenset)):
        return f"{type(value).__name__} of {_length(value):,}"
    return type(value).__name__


def _length(container: object) -> int:
    """The length, without code of the program's classes."""
    kinds = (list, tuple, dict, set, frozenset)
    return next(k.__len__(container) for k in kinds if is_a(container, k))


def attempt(function, otherwise):
    """What a function gives, or a stand-in where it raises."""
    try:
        return function()
    except Exception:  # noqa: BLE001 - objects of a program may raise anything when asked
        return otherwise
