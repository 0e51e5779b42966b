"""No exception of ours may reach the program: it is told once, and what raised it is disarmed."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager, suppress
from functools import partial
from typing import Callable

from . import channel

_told: set[str] = set()


class _Thread(threading.local):
    busy = False


_thread = _Thread()


def busy() -> bool:
    """Whether this thread is inside our own code, where boundaries don't count."""
    return _thread.busy


@contextmanager
def ours():
    """Marks the code inside as ours: what it calls of the model is not looked at."""
    before = _thread.busy
    _thread.busy = True
    try:
        yield
    finally:
        _thread.busy = before


def run(what: str, function: Callable, *arguments, disarm: Callable[[], None] | None = None):
    """Calls a function of ours inside the program; None when it raised. Ctrl-C and exit pass."""
    before = _thread.busy
    _thread.busy = True
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001 - see above
        for step in (partial(report, what, error), disarm):
            with suppress(Exception):  # what failed may be what these need
                step and step()
        return None
    finally:
        _thread.busy = before


def report(what: str, error: BaseException) -> None:
    """Tells a person what went wrong, once per text."""
    from .dispatch import sentence

    text = f"Scanpoint: {what} is switched off: {sentence(error)}"
    if text not in _told:
        _told.add(text)
        channel.output(text)


class _Found:
    """PyTorch and its tensor class, once the program has imported them."""

    torch = None
    tensor: type | tuple = ()


def torch():
    """PyTorch where the program has imported it (fully), else None."""
    if _Found.torch is None:
        module = sys.modules.get("torch")
        if hasattr(module, "Tensor"):
            _Found.torch, _Found.tensor = module, module.Tensor
    return _Found.torch


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor."""
    torch()
    return isinstance(value, _Found.tensor)


def has_values(tensor) -> bool:
    """Whether a tensor is one of the run, not one that shows shapes only."""
    return not (tensor.is_meta or type(tensor).__name__ in ("FakeTensor", "FunctionalTensor"))
