"""Hooks on all modules at once, for breakpoints and observers: nothing is written into a model."""

from __future__ import annotations

import sys
from types import FrameType

from . import guarded, modules, steps
from .calls import Call

_handles: list[object] = []
_occurrences: dict[tuple[str, str], int] = {}


def install(wanted: bool) -> None:
    """Puts the hooks in, or takes them out."""
    if wanted and not _handles:
        hooks = sys.modules.get("torch.nn.modules.module")
        if guarded.torch() is None or hooks is None:
            return
        _handles.append(hooks.register_module_forward_pre_hook(_before))
        _handles.append(hooks.register_module_forward_hook(_after))
    elif not wanted:
        while _handles:
            _handles.pop().remove()


def _before(module, args) -> None:
    if not guarded.busy() and not _compiling():
        frame = sys._getframe(1)
        guarded.run("module breakpoints", _told, module, args, None, frame, "entry", disarm=_off)


def _after(module, args, output) -> None:
    if not guarded.busy() and not _compiling():
        frame = sys._getframe(1)
        guarded.run("module breakpoints", _told, module, args, output, frame, "exit", disarm=_off)


def _off() -> None:
    install(False)


def _compiling() -> bool:
    compiler = getattr(guarded.torch(), "compiler", None)
    return bool(compiler is not None and compiler.is_compiling())


def _told(module, args, output, frame: FrameType, phase: str) -> None:
    path = modules.known(module)
    if path is None:
        place = modules.locate(frame)
        path = place.path if place else type(module).__name__
    call = None
    for breakpoint in tuple(modules.breakpoints):
        if breakpoint.wants(path, phase):
            call = call or _call(module, path, args, output, frame, phase)
            breakpoint(call)
    if phase == "exit":
        for observer in tuple(modules.observers):
            name = getattr(observer, "__name__", "observer")
            guarded.run(
                f"{name} at {path}", observer, path, module, args, output,
                disarm=lambda observer=observer: modules.observers.discard(observer),
            )  # fmt: skip


def _call(module, path: str, args, output, frame: FrameType, phase: str) -> Call:
    forward = type(module).forward
    original = getattr(forward, "__wrapped__", forward)
    call = Call("module", f"{type(module).__name__}.forward")
    call.module, call.layer, call.phase, call.frame = path, modules.layer_of(path), phase, frame
    call.instance, call.result = module, output
    call.original = original if hasattr(original, "__code__") else None
    modules.locate(frame)  # counts the call of the root
    call.arguments = {"self": module, **_bound(call.original, args)}
    call.arguments.update(frame.f_locals.get("kwargs") or {})
    call.inputs = _tensors(call.arguments)
    call.tensors = {**call.inputs, **_outputs(output)}
    key = (path, phase)
    call.occurrence = _occurrences[key] = _occurrences.get(key, 0) + 1
    call.step, call.rank = steps.current(), steps.rank()
    return call


def _bound(forward, args: tuple) -> dict[str, object]:
    """Positional arguments by the names that `forward` gives them."""
    code = getattr(forward, "__code__", None)
    names = code.co_varnames[1 : code.co_argcount] if code else ()
    spare = (f"input_{i}" for i in range(len(names), len(args)))
    return dict(zip((*names, *spare), args))


def _tensors(values: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if guarded.is_tensor(value)}


def _outputs(output: object) -> dict[str, object]:
    """The tensors of a module's result: `output`, or `output_0`, `output_1`, ... of several."""
    if isinstance(output, (tuple, list)):
        return _tensors({f"output_{i}": value for i, value in enumerate(output)})
    if isinstance(output, dict):
        return _tensors({f"output_{name}": value for name, value in output.items()})
    return _tensors({"output": output})
