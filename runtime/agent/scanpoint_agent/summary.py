"""What one pass over a tensor gives: the `Summary` of src/protocol/summary.ts, for any tensor.

Beside its fields a summary may have a `note`: what kind of numbers the statistics are of, or why
there are none. Nothing here raises, and nothing changes the program's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Optional

from . import guarded
from .budget import Budget, unlimited
from .kinds import Readable, has_storage, readable
from .ondevice import Waiting
from .quiet import quiet, unreadable
from .statistics import Statistics, statistics

BINS = 64
Summary = dict
Result = tuple[Optional[Statistics], Readable]


def summarize(tensor, budget: Budget | None = None, bins: int = BINS) -> Summary:
    """The summary of one tensor, without a limit unless a budget is given."""
    return summarize_all([tensor], budget or unlimited(), bins)[0]


def summarize_all(tensors: Sequence, budget: Budget | None = None, bins: int = BINS) -> list:
    """Summaries in the order of the tensors, small ones first computed, in one synchronisation."""
    found = statistics_of(tensors, budget or Budget(), bins)
    with quiet():
        return [joined(layout(t), *found[i]) for i, t in enumerate(tensors)]


def statistics_of(tensors: Sequence, budget: Budget, bins: int = 0) -> list[Result]:
    """Statistics (None where there are none) and what they are of, in the order of the tensors."""
    reason = unreadable()
    with quiet():
        work = _Work(budget, bins, guarded.torch(), reason)
        sizes = [_try(lambda t=t: int(t.numel()), 0) for t in tensors]
        for i in sorted(range(len(tensors)), key=sizes.__getitem__):
            work.take(i, tensors[i], sizes[i])
        found = work.finish()
        return [found[i] for i in range(len(tensors))]


class _Work:
    """Tensors on the CPU are done at once, the others when all have been started."""

    def __init__(self, budget: Budget, bins: int, torch, reason: str | None):
        self.budget, self.bins, self.torch, self.reason = budget, bins, torch, reason
        self.waiting = Waiting()
        self.done: dict[int, Result] = {}
        self.started: dict[int, tuple[int, Readable]] = {}

    def take(self, i: int, tensor, numel: int) -> None:
        refused = self.reason or self.budget.refuses(numel)
        source = Readable(None, refused) if refused else readable(tensor)
        if source.data is None:
            self.done[i] = (None, source)
            return
        try:
            if source.data.device.type == "cpu":
                self.done[i] = (statistics(source.data, self.bins), source)
            else:
                self.started[i] = (self.waiting.add(source.data, self.bins, self.torch), source)
        except Exception as error:  # noqa: BLE001 - a device or dtype may lack an operation
            self.done[i] = (None, Readable(None, f"cannot be read: {type(error).__name__}"))

    def finish(self) -> dict[int, Result]:
        try:
            fetched = self.waiting.collect(self.torch)
        except Exception as error:  # noqa: BLE001 - a failed kernel shows here, for all of them
            note = f"cannot be read: {' '.join(str(error).split())[:80]}"
            self.done.update((i, (None, Readable(None, note))) for i in self.started)
        else:
            self.done.update((i, (fetched[at], s)) for i, (at, s) in self.started.items())
        return self.done


def joined(facts: Summary, s: Statistics | None, source: Readable) -> Summary:
    """A layout with the statistics that belong to it."""
    if s is not None:
        facts.update(
            nan=s.nan,
            posInf=s.pos_inf,
            negInf=s.neg_inf,
            zeros=s.zeros + source.implied_zeros,
            histogram=s.histogram,
        )
        if s.count:
            std = math.sqrt(s.squares / s.count)
            low, high = s.min + 0.0, s.max + 0.0  # of equal zeros the positive one
            facts.update(min=low, max=high, mean=s.mean, std=std, absmax=max(-low, high))
    if source.note:
        facts["note"] = source.note
    return facts


def layout(tensor) -> Summary:
    """The summary without statistics; for tensors without a fixed size, what they do tell."""
    shape = _shape(tensor)
    facts: Summary = {
        "dtype": str(tensor.dtype).replace("torch.", ""),
        "device": str(tensor.device),
        "shape": shape,
        "strides": _try(lambda: [int(stride) for stride in tensor.stride()], []),
        "contiguous": bool(_try(tensor.is_contiguous, True)),
        "numel": _try(lambda: int(tensor.numel()), 0),
    }
    facts.update(dict.fromkeys(("nan", "posInf", "negInf", "zeros"), 0))
    facts.update(dict.fromkeys(("min", "max", "mean", "std", "absmax")))
    facts.update(histogram=[], requiresGrad=bool(tensor.requires_grad))
    stored = _try(lambda: has_storage(tensor), False)
    pointer = _try(lambda: tensor.untyped_storage().data_ptr(), 0) if stored else 0
    if pointer:
        facts["storagePointer"] = pointer
    return facts


def _shape(tensor) -> list[int]:
    sizes = _try(lambda: [int(size) for size in tensor.shape], None)
    if sizes is None:
        # Strided nested tensors have a size only where all parts agree; -1 stands for the others.
        axes = range(_try(tensor.dim, 0))
        sizes = [_try(lambda a=a: int(tensor.size(a)), -1) for a in axes]
    return sizes


def _try(function, otherwise):
    """What a function gives, or a stand-in: some kinds of tensors refuse the simplest question."""
    try:
        return function()
    except Exception:  # noqa: BLE001
        return otherwise
