"""A look at every operation of PyTorch that the program runs, from the start of a step on."""

from __future__ import annotations

import sys
import threading
from types import FrameType

from . import guarded, imports, modules


class Look:
    """What is done at every operation; both run inside the program, guarded."""

    def before(self, func, args: tuple, kwargs: dict) -> object:
        """Before the operation; what it gives is handed to `after`."""

    def after(self, func, args: tuple, kwargs: dict, result, state) -> None:
        """After the operation."""

    def next_step(self) -> None:
        """When the root module is called again."""


class EveryOp:
    """Enters a dispatch mode at the next call of a root module, in the thread that calls it."""

    def __init__(self, look: Look):
        self._look = look
        self._handle = None
        self._mode = None
        self._thread: int | None = None
        self.on = False

    def start(self) -> None:
        """Waits for the next step, and for PyTorch where the program has not imported it yet."""
        self.on = True
        if "torch.nn.modules.module" in sys.modules and guarded.torch() is not None:
            self._hook()
        else:
            imports.on_torch(self._hook)

    def _hook(self) -> None:
        if self.on and self._handle is None:
            hooks = sys.modules["torch.nn.modules.module"]
            self._handle = hooks.register_module_forward_pre_hook(self._before)

    def stop(self) -> None:
        """Looks no more; the mode leaves at the next chance, and until then lets all pass."""
        self.on = False
        self._leave()

    def _before(self, module, _args) -> None:
        if not guarded.busy() and _is_root(sys._getframe(1), module):
            guarded.run("the look at every operation", self._at_step, disarm=self.stop)

    def _at_step(self) -> None:
        if not self.on:
            self._leave()
        elif self._mode is None:
            self._thread = threading.get_ident()
            self._mode = _make_mode(self)
            self._mode.__enter__()
        elif self._thread == threading.get_ident():
            self._look.next_step()

    def _leave(self) -> None:
        """The mode can only go while it is the innermost one of its thread."""
        if self._mode is not None:
            dispatch = sys.modules["torch.utils._python_dispatch"]
            innermost = dispatch._get_current_dispatch_mode()
            if self._thread != threading.get_ident() or innermost is not self._mode:
                return
            self._mode.__exit__(None, None, None)
            self._mode = None
        if self._handle is not None:
            self._handle.remove()
            self._handle = None

    def run(self, func, args: tuple, kwargs: dict):
        """Runs an operation of the program with a look before and after."""
        if not self.on or guarded.busy():
            return func(*args, **kwargs)
        look, what = self._look, "the look at every operation"
        state = guarded.run(what, look.before, func, args, kwargs, disarm=self.stop)
        result = func(*args, **kwargs)
        if self.on:
            guarded.run(what, look.after, func, args, kwargs, result, state, disarm=self.stop)
        return result


def _make_mode(watch: EveryOp):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return watch.run(func, args, kwargs or {})

    return Mode()


def _is_root(frame: FrameType | None, module) -> bool:
    """Whether no other module is being called around this one."""
    codes = modules.call_codes()
    while frame is not None:
        if frame.f_code in codes and frame.f_locals.get("self") is not module:
            return False
        frame = frame.f_back
    return True


def arguments_of(func, args: tuple, kwargs: dict) -> dict[str, object]:
    """The arguments of an operation by the names of its schema."""
    names = [argument.name for argument in func._schema.arguments]
    return {**dict(zip(names, args)), **kwargs}


def name_of(func) -> str:
    """`exp.default` for `aten.exp.default`."""
    text = str(func)
    return text.removeprefix("aten.")


def is_view(func) -> bool:
    """Whether the result only shows an argument in another shape."""
    returns = func._schema.returns
    return bool(returns) and all(r.alias_info and not r.alias_info.is_write for r in returns)
