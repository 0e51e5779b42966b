"""The cheap look at tensors: smallest and largest element of each, in one synchronisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from . import guarded
from .kinds import readable
from .quiet import quiet, unreadable


class Extremes(NamedTuple):
    """Both are NaN when an element is; an infinity shows in one of them."""

    low: float
    high: float

    @property
    def finite(self) -> bool:
        """Whether no element is NaN or infinite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def absmax(self) -> float:
        """The largest magnitude; NaN when an element is."""
        return max(-self.low, self.high)


def extremes(tensors: Sequence) -> list[Extremes | None]:
    """Of each tensor; None where it has no elements that could be other than finite."""
    found: list[Extremes | None] = [None] * len(tensors)
    if unreadable():
        return found
    with quiet():
        torch = guarded.torch()
        bounds = [_bounds(tensor, torch) for tensor in tensors]
        for device in {pair[0].device for pair in bounds if pair}:
            places = [i for i, pair in enumerate(bounds) if pair and pair[0].device == device]
            numbers = torch.stack([x for i in places for x in bounds[i]]).tolist()
            for at, i in enumerate(places):
                found[i] = Extremes(numbers[2 * at], numbers[2 * at + 1])
    return found


def _bounds(tensor, torch):
    """Smallest and largest element as float32 or float64 scalars on the tensor's device."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    data = readable(tensor).data
    if data is None or data.numel() == 0:
        return None
    if data.element_size() == 1:
        data = data.float()
    low, high = torch.aminmax(data)
    # float64 holds every other type, but not every device has it.
    wide = torch.float32 if data.device.type == "mps" else torch.float64
    return low.to(wide), high.to(wide)
