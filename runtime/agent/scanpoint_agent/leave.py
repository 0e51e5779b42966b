"""The end of everything that watches values: filters, the look at every operation, trace, replay."""

from __future__ import annotations

from . import nonfinite, origin, replay, trace


def off() -> None:
    """Leaves the program as if nothing had been watched; may be called at any time."""
    nonfinite.set_filters({})
    origin.stop()
    trace.trace({"level": "off"})
    replay.close_scan({})
