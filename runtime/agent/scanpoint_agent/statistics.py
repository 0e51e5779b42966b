"""Statistics of a tensor on the CPU, piece by piece, in float64."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from . import guarded
from .histogram import Binning, add_bins
from .pieces import in_memory_order, piece_size, pieces, sample

# Above this many elements the histogram is of evenly spread pieces with about as many.
HISTOGRAM_ELEMENTS = 1 << 18


@dataclass
class Statistics:
    """Counts of elements; the rest is of the finite ones, min > max when there is none."""

    count: int = 0
    nan: int = 0
    pos_inf: int = 0
    neg_inf: int = 0
    zeros: int = 0
    min: float = math.inf
    max: float = -math.inf
    mean: float = 0.0
    # Sum of the squared distances from the mean.
    squares: float = 0.0
    histogram: list[int] = field(default_factory=list)

    def join(self, count: int, mean: float, squares: float) -> None:
        """Adds the moments of more elements (Chan et al. 1979): nothing cancels."""
        total = self.count + count
        apart = mean - self.mean
        self.squares += squares + apart * apart * self.count * count / total
        self.mean += apart * count / total
        self.count = total

    def repeated(self, times: int) -> Statistics:
        """The same of a tensor in which each element is `times` times."""
        if times > 1:
            for name in ("count", "nan", "pos_inf", "neg_inf", "zeros", "squares"):
                setattr(self, name, getattr(self, name) * times)
            self.histogram = [n * times for n in self.histogram]
        return self


def statistics(tensor, bins: int) -> Statistics:
    """Statistics of a plain tensor on the CPU; with a histogram of `bins` bins, none for 0."""
    view, repeats = in_memory_order(tensor)
    s = Statistics(histogram=[0] * bins)
    size = piece_size(view.numel())
    torch = guarded.torch()
    wide = torch.empty(min(size, view.numel()), dtype=torch.float64)
    flags = torch.empty(wide.numel())
    for piece in pieces(view, size):
        _add(s, wide[: piece.numel()].copy_(piece), flags, torch)
    if bins:
        _fill(s, view, size, bins, torch)
    return s.repeated(repeats)


def _add(s: Statistics, x, flags, torch) -> None:
    """Adds one piece, `x` in float64, which is spent."""
    total = x.sum().item()
    if not math.isfinite(total):
        x = _finite_part(s, x, torch)
        total = x.sum().item()
    n = x.numel()
    if n == 0:
        return
    low, high = (bound.item() for bound in torch.aminmax(x))
    s.min, s.max = min(s.min, low), max(s.max, high)
    if low <= 0 <= high:
        s.zeros += int(torch.eq(x, 0, out=flags[:n]).sum().item())
    mean = total / n
    norm = torch.linalg.vector_norm(x.sub_(mean)).item() if low < high else 0.0
    s.join(n, mean, norm * norm)


def _finite_part(s: Statistics, x, torch):
    finite = torch.isfinite(x)
    nan = int(torch.isnan(x).sum().item())
    positive = int((x == math.inf).sum().item())
    s.nan += nan
    s.pos_inf += positive
    part = x[finite]
    s.neg_inf += x.numel() - part.numel() - nan - positive
    return part


def _fill(s: Statistics, view, size: int, bins: int, torch) -> None:
    if not s.min < s.max:
        s.histogram[0] = s.count
        return
    binning = Binning.of(s.min, s.max, bins)
    clean = s.nan + s.pos_inf + s.neg_inf == 0
    counts = torch.zeros(bins, dtype=torch.int64)
    for piece in sample(view, size, HISTOGRAM_ELEMENTS):
        x = piece.to(torch.float32)
        counts += add_bins(x if clean else x[torch.isfinite(x)], binning, torch)
    s.histogram = counts.tolist()
