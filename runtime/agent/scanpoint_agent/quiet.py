"""A stretch of code in which PyTorch does only what we ask of it, whatever the program has set."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from . import guarded


class quiet:
    """No graph is recorded, and neither autocast, inference mode nor any mode of the program acts.

    Nothing is written to the program's tensors and no random number is drawn by us, so its numbers
    are the same with and without what happens inside. Entered at every site that is looked at: what
    is off already is not switched.
    """

    __slots__ = ("_entered",)

    def __enter__(self) -> None:
        self._entered: list = []
        try:
            for switch in _switches():
                switch.__enter__()
                self._entered.append(switch)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_error) -> None:
        while self._entered:
            self._entered.pop().__exit__(None, None, None)


def _switches() -> Iterator:
    """What must be off, in this order, as far as this version of PyTorch has it."""
    yield guarded.ours()
    torch = guarded.torch()
    if torch is None:
        return
    inner = torch._C
    for name in ("DisableTorchFunction", "_DisableAutocast"):
        switch = getattr(inner, name, None)
        if switch:
            yield switch()
    if getattr(inner, "_len_torch_dispatch_stack", lambda: 1)():
        modes = sys.modules.get("torch.utils._python_dispatch")
        disable = getattr(modes, "_disable_current_modes", None)
        if disable:
            yield disable()
    # Leaving inference mode turns gradients on, so that they are turned off after it.
    if torch.is_inference_mode_enabled():
        yield torch.inference_mode(False)
    if torch.is_grad_enabled():
        yield torch.no_grad()


def unreadable() -> str | None:
    """Why no tensor may be read right now, or None: captures and transforms must not see us."""
    torch = guarded.torch()
    if torch is None:
        return "PyTorch is not loaded"
    compiler = getattr(torch, "compiler", None)
    if compiler and getattr(compiler, "is_compiling", bool)():
        return "being compiled"
    peek = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", None)
    if peek and peek() is not None:
        return "inside a torch.func transform"
    # A context must exist before a capture can; asking would make one.
    if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
        return "inside a CUDA graph capture"
    return None
