"""How much may be spent on statistics: milliseconds per reply, and elements per tensor."""

from __future__ import annotations

import time

MS = 10.0
ELEMENTS = 1e7


def _setting(name: str, otherwise: float) -> float:
    """What the person has set, or the default."""
    from .lifecycle import settings

    return float(settings().get(name) or otherwise)


class Budget:
    """What is left for one reply; `ms` and `elements` replace the person's settings."""

    def __init__(self, ms: float | None = None, elements: float | None = None):
        ms = _setting("summaryBudgetMs", MS) if ms is None else ms
        self._end = time.perf_counter() + ms / 1e3
        limit = _setting("summaryBudgetElements", ELEMENTS) if elements is None else elements
        self._elements = limit
        self.left_out = 0

    def refuses(self, numel: int) -> str | None:
        """Why a tensor gets no statistics, or None; counts those that don't."""
        if numel > self._elements:
            reason = f"{numel:,} elements: expand for statistics"
        elif time.perf_counter() > self._end:
            reason = "expand for statistics"
        else:
            return None
        self.left_out += 1
        return reason


def unlimited() -> Budget:
    """For one tensor that a person has asked to see."""
    return Budget(ms=float("inf"), elements=float("inf"))
