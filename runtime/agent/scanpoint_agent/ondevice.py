"""The same statistics on a device whose results are waited for: no branch looks at a number.

Everything stays on the device, as one vector per tensor, until `Waiting.collect` fetches the
vectors of all tensors at once.
"""

from __future__ import annotations

import math

from .histogram import HUGE, TINY
from .pieces import in_memory_order, pieces, sample
from .statistics import HISTOGRAM_ELEMENTS, Statistics

# Large enough to fill a GPU, small enough that the copies in between don't matter.
PIECE = 1 << 22
# Five counts, then min, max, mean and squares.
_LEAD = 9


def enqueue(tensor, bins: int, torch):
    """Starts the statistics of a plain tensor; gives the vector that will hold them."""
    view, _ = in_memory_order(tensor)
    # Some devices have no float64.
    wide = torch.float32 if tensor.device.type == "mps" else torch.float64
    parts = [_moments(p.to(wide), torch) for p in pieces(view, PIECE)]
    if not parts:
        return torch.zeros(_LEAD + bins, dtype=wide, device=tensor.device)
    table = torch.stack(parts)
    counts = table[:, :5].sum(0)
    low, high = table[:, 5].amin(), table[:, 6].amax()
    mean = table[:, 7].sum() / counts[0].clamp(min=1)
    squares = torch.stack([_squares(p.to(wide), mean, torch) for p in pieces(view, PIECE)]).sum()
    filled = _histogram(view, low, high, bins, torch).to(wide)
    return torch.cat((counts, torch.stack((low, high, mean, squares)), filled))


def _moments(x, torch):
    finite = torch.isfinite(x)
    sums = (finite, x.isnan(), x == math.inf, x == -math.inf, x == 0)
    low = torch.where(finite, x, math.inf).amin()
    high = torch.where(finite, x, -math.inf).amax()
    total = torch.where(finite, x, 0).sum()
    counted = [flags.sum(dtype=x.dtype) for flags in sums]
    return torch.stack((*counted, low, high, total))


def _squares(x, mean, torch):
    return torch.where(torch.isfinite(x), x - mean, 0).square_().sum()


def _histogram(view, low, high, bins: int, torch):
    counts = torch.zeros(bins + 1, dtype=torch.int64, device=view.device)
    extent = high - low
    unit = torch.where(extent < TINY, 2.0**64, torch.where(extent > HUGE, 2.0**-4, 1.0))
    unit = unit.to(low.dtype)
    start = (low * unit).float()
    # Equal elements are all in the first bin.
    scale = torch.where(extent > 0, bins / (extent * unit), 0).float()
    for piece in sample(view, PIECE, HISTOGRAM_ELEMENTS) if bins else ():
        x = piece.float()
        place = (x * unit.float() - start) * scale
        index = place.nan_to_num(0, 0, 0).clamp_(0, bins - 1).long()
        counts += _tally(torch.where(torch.isfinite(x), index, bins), bins + 1, torch)
    return counts[:bins]


def _tally(index, bins: int, torch):
    """Counts of whole numbers below `bins`, without waiting for the device."""
    if index.device.type == "cuda":
        # bincount waits for the largest number, and a histogram of floats is not deterministic.
        return torch.histc(index.int(), bins, 0, bins).long()
    counts = torch.zeros(bins, dtype=torch.int64, device=index.device)
    return counts.scatter_add_(0, index, torch.ones_like(index))


def finished(row: list[float], repeats: int) -> Statistics:
    """The statistics out of a fetched vector."""
    count, nan, pos_inf, neg_inf, zeros, low, high, mean, squares = row[:_LEAD]
    histogram = [int(n) for n in row[_LEAD:]]
    s = Statistics(int(count), int(nan), int(pos_inf), int(neg_inf), int(zeros), low, high)
    s.mean, s.squares, s.histogram = mean, squares, histogram
    return s.repeated(repeats)


class Waiting:
    """Vectors of several tensors, fetched together: one synchronisation per device."""

    def __init__(self) -> None:
        self.vectors: list[object] = []
        self._repeats: list[int] = []

    def add(self, tensor, bins: int, torch) -> int:
        """Starts a tensor's statistics; gives its place in `collect`'s answer."""
        self._repeats.append(in_memory_order(tensor)[1])
        self.vectors.append(enqueue(tensor, bins, torch))
        return len(self.vectors) - 1

    def finish(self, vector, place: int = 0) -> Statistics:
        """The statistics of the tensor at `place`, from its fetched vector."""
        return finished(vector.tolist(), self._repeats[place])

    def collect(self, torch) -> list[Statistics]:
        """Waits for all of them."""
        return [self.finish(vector, i) for i, vector in enumerate(fetch(self.vectors, torch))]


def fetch(vectors: list, torch) -> list:
    """Vectors of one device or several, on the CPU in float64: each device is waited for once."""
    found: list = [None] * len(vectors)
    for device in {vector.device for vector in vectors}:
        places = [i for i, vector in enumerate(vectors) if vector.device == device]
        together = torch.cat([vectors[i] for i in places]).cpu()
        for i, part in zip(places, together.split([vectors[i].numel() for i in places])):
            found[i] = part.double()
    return found
