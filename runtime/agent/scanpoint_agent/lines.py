"""Conditions on lines of Python that use our functions, e.g. `x.absmax() > 30 or nan(x) > 0`."""

from __future__ import annotations

from collections import ChainMap

from . import channel
from .conditions import ConditionError, Expression

_compiled: dict[str, Expression] = {}
_failed: set[str] = set()


def holds(text: str, names: dict, scope: dict) -> bool:
    """Whether a condition holds at a frame with these local and global names.

    One that fails does not hold, and is told once: an error must not reach the program.
    """
    try:
        if text not in _compiled:
            _compiled[text] = Expression(text)
        return _compiled[text].truth(ChainMap(names, scope))
    except ConditionError as error:
        if text not in _failed:
            _failed.add(text)
            channel.output(f"Scanpoint: a breakpoint's condition fails: {error}")
        return False
