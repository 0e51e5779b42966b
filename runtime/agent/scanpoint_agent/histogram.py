"""Equal bins from the smallest to the largest element, the same as in the embedded target."""

from __future__ import annotations

import struct
from typing import NamedTuple

# Ranges between these need no unit.
TINY, HUGE = 2.0**-100, 2.0**126


class Binning(NamedTuple):
    """The bin of x is trunc((x unit - low) scale), at most bins - 1, all in float32."""

    bins: int
    low: float
    scale: float
    # A power of two that keeps the range and the scale within float32.
    unit: float

    @classmethod
    def of(cls, low: float, high: float, bins: int) -> Binning:
        """Bins for a range that is not empty."""
        extent = high - low
        unit = 2.0**64 if extent < TINY else 2.0**-4 if extent > HUGE else 1.0
        return cls(bins, _round(low * unit), _round(bins / (extent * unit)), unit)


def _round(x: float) -> float:
    """The nearest float32; the largest one beyond its range."""
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return 3.4028234663852886e38 if x > 0 else -3.4028234663852886e38


def add_bins(x, binning: Binning, torch):
    """Counts per bin of a piece of finite float32."""
    if binning.unit != 1:
        x = x * binning.unit
    index = x.sub(binning.low).mul_(binning.scale).to(torch.int32)
    counts = torch.bincount(index, minlength=binning.bins + 1)
    # Only the largest elements can come out beyond the last bin.
    counts[binning.bins - 1] += counts[binning.bins :].sum()
    return counts[: binning.bins]
