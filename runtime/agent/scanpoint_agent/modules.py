"""Where in the model a call happens: the path of the module that is being called.

The outermost module that is being called names its children, as a checkpoint's keys do. Frames of
`nn.Module.__call__` are found by their code; only those frames' locals are read, since reading a
frame's locals keeps what is in them alive.
"""

from __future__ import annotations

import re
import sys
import weakref
from types import CodeType, FrameType
from typing import Callable, ClassVar

from . import guarded, steps
from .watched import Watched

# Written into the frame that it counts in, so that it lives exactly as long.
_SEEN = ".scanpoint"
_LAYER = re.compile(r"(?:^|\.)(?:layers|blocks|layer|h)\.(\d+)(?:\.|$)")
_WRAPPERS = frozenset(
    ("DistributedDataParallel", "DataParallel", "FullyShardedDataParallel", "OptimizedModule")
)


def refresh() -> None:
    """Hooks on all modules exist only while somebody wants them: they cost at every call."""
    from . import module_hooks

    module_hooks.install(bool(observers or breakpoints or _Registry.root_listeners))


# Called with (path, module, inputs, outputs) after each module's call.
observers = Watched(refresh)
# Module breakpoints: `wants(path, phase)`, and called with a `Call`.
breakpoints = Watched(refresh)


# Called after the modules of a model have been named; costs nothing between.
on_model: list[Callable[[], None]] = []


class Place:
    """A module that is being called, and the frame of its call."""

    __slots__ = ("frame", "module", "path")

    def __init__(self, path: str, module: object, frame: FrameType | None):
        self.path = path
        self.module = module
        self.frame = frame


class _Registry:
    """Paths of all modules of all roots seen so far, by the modules' identity."""

    paths: ClassVar[dict[int, tuple[weakref.ref, str]]] = {}
    root_listeners = Watched(refresh)
    codes: frozenset[CodeType] = frozenset()


def call_codes() -> frozenset[CodeType]:
    """The code of `nn.Module.__call__` in this version of PyTorch; empty before its import."""
    if not _Registry.codes:
        module = getattr(sys.modules.get("torch.nn.modules.module"), "Module", None)
        names = ("_wrapped_call_impl", "_call_impl", "__call__")
        functions = (getattr(module, name, None) for name in names)
        _Registry.codes = frozenset(f.__code__ for f in functions if hasattr(f, "__code__"))
    return _Registry.codes


def locate(frame: FrameType | None) -> Place | None:
    """The innermost module that is being called from `frame` outwards, or None outside of any."""
    codes = call_codes()
    inner = outer = None
    while frame is not None:
        if frame.f_code in codes:
            inner = inner or frame
            outer = frame
        frame = frame.f_back
    if inner is None or outer is None:
        return None
    module, root = inner.f_locals["self"], outer.f_locals["self"]
    path = path_of(module, root)
    if known(root) == "":  # and not a part of one, called again by gradient checkpointing
        _count_root(outer)
    return Place(path, module, inner)


def _count_root(frame: FrameType) -> None:
    """Counts a call of a root module, once per call."""
    seen = frame.f_locals
    if _SEEN not in seen:
        seen[_SEEN] = {}
        steps.root_called()


def count_in(frame: FrameType, what: str) -> int:
    """How often `what` has happened in the call of this frame before."""
    counts = frame.f_locals.setdefault(_SEEN, {})
    counts[what] = counts.get(what, 0) + 1
    return counts[what] - 1


def path_of(module: object, root: object) -> str:
    """The path of a module below a root module, or below the larger root seen before."""
    if known(root) is None:
        register(root)
    path = known(module)
    if path is None:
        register(root)  # it was added after the root's first call
        path = known(module)
    return path if path is not None else type(module).__name__


def known(module: object) -> str | None:
    """The path of a module that has been seen in the tree of a root."""
    entry = _Registry.paths.get(id(module))
    return entry[1] if entry and entry[0]() is module else None


def register(root: object) -> None:
    """Names all modules below a root."""
    inside = root
    while type(inside).__name__ in _WRAPPERS:
        inside = getattr(inside, "module", None) or getattr(inside, "_orig_mod", None)
        if inside is None:
            return
    # Modules above `inside` go by its own name, the empty one.
    _remember(root, "")
    for path, module in inside.named_modules():
        _remember(module, path)
    for listener in list(_Registry.root_listeners):
        guarded.run("a gradient breakpoint", listener, inside)
    for listener in on_model:
        guarded.run("the breakpoints", listener)


def _remember(module: object, path: str) -> None:
    key = id(module)
    _Registry.paths[key] = (weakref.ref(module, lambda _: _Registry.paths.pop(key, None)), path)


def paths() -> list[str]:
    """The paths of all modules seen so far that still live."""
    return [path for ref, path in list(_Registry.paths.values()) if path and ref() is not None]


def parameters() -> list[str]:
    """The names of all parameters of the models seen so far."""
    return [name for root in roots() for name, _ in root.named_parameters()]


def roots() -> list[object]:
    """The root modules seen so far that still live."""
    entries = list(_Registry.paths.values())
    return [module for ref, path in entries if path == "" and (module := ref()) is not None]


def on_root(listener: Callable[[object], None]) -> None:
    """Calls `listener` with each root module that is seen from now on."""
    _Registry.root_listeners.append(listener)


def off_root(listener: Callable[[object], None]) -> None:
    """Undoes `on_root`."""
    if listener in _Registry.root_listeners:
        _Registry.root_listeners.remove(listener)


def layer_of(path: str) -> int | None:
    """The index of the layer that a path lies in: `layers.3.mixer` -> 3."""
    match = _LAYER.search(path)
    return int(match.group(1)) if match else None
