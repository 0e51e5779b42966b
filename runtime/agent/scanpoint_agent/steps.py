"""Which step of the run it is, and which rank: what a call alone can't tell."""

from __future__ import annotations

import os
import sys

from .guarded import torch


class _Counts:
    """Steps of optimisers, and calls of root modules, seen so far."""

    optimizer = 0
    roots = 0
    watching = False


def watch() -> None:
    """Counts the steps of all optimisers from now on; does nothing before PyTorch is imported."""
    if _Counts.watching or torch() is None:
        return
    register = getattr(
        sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_post_hook", None
    )
    if register:
        _Counts.watching = True
        register(_after_step)


def _after_step(_optimizer, _args, _kwargs) -> None:
    _Counts.optimizer += 1


def root_called() -> None:
    """To be told at each call of a module that no other module calls."""
    _Counts.roots += 1


def reset() -> None:
    """Counts from the start again."""
    _Counts.optimizer = _Counts.roots = 0


def current() -> int | None:
    """Steps done before this one: of the optimiser, or calls of the model where none steps."""
    if _Counts.optimizer:
        return _Counts.optimizer
    if not _Counts.roots:
        return None
    return _Counts.roots - 1


def rank() -> int | None:
    """The rank of this process in distributed training, or None."""
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank()
        return int(os.environ["RANK"])
    except (KeyError, ValueError, AttributeError, RuntimeError):
        return None
