"""Gradient breakpoints: on parameters, and on what goes into and comes out of a call.

Hooks run where autograd runs: in the thread that called backward() on a CPU, in autograd's own
threads on a GPU. A hook that is left behind looks whether it is still wanted.
"""

from __future__ import annotations

import copy
import weakref
from typing import Callable

from . import guarded, modules, steps
from .calls import Call

Found = Callable[[Call], None]


def watch_call(call: Call, phase: str, found: Found) -> None:
    """Tells `found` of a call's backward pass, given the call at its exit.

    `entry`: when the gradients of its outputs are known; `exit`: when those of all inputs are.
    """
    outputs = {name: t for name, t in call.tensors.items() if name not in call.inputs}
    if phase == "entry":
        wanted = dict([item for item in outputs.items() if item[1].requires_grad][:1])
    else:
        wanted = {name: t for name, t in call.inputs.items() if t.requires_grad}
    collected: dict[str, object] = {}
    place = _without_frame(call, phase)

    def on(name: str):
        def hook(grad) -> None:
            collected[name] = grad
            if len(collected) == len(wanted):
                gradients = dict(collected)
                collected.clear()
                guarded.run("a gradient breakpoint", _tell, place, gradients, found)

        return _unpickled(hook)

    for name, tensor in wanted.items():
        tensor.register_hook(on(name))


def _without_frame(call: Call, phase: str) -> Call:
    """The call as it is kept until the backward pass: without what would keep memory alive."""
    kept = copy.copy(call)
    kept.frame, kept.phase, kept.in_backward = None, phase, True
    kept.tensors, kept.arguments, kept.result, kept.inputs = {}, {}, None, {}
    return kept


def _tell(place: Call, gradients: dict[str, object], found: Found) -> None:
    call = copy.copy(place)
    call.tensors = {f"grad_{name}": grad for name, grad in gradients.items()}
    if len(gradients) == 1:
        call.tensors["grad"] = next(iter(gradients.values()))
    call.step = steps.current()
    found(call)


def _unpickled(hook: Callable) -> Callable:
    """PyTorch leaves such a hook out when the tensor is saved, without a warning."""
    hook.__torch_unserializable__ = True
    return hook


class Parameters:
    """The gradients of all parameters whose name matches, in every model that is called."""

    def __init__(self, matches: Callable[[str], bool], found: Found):
        self.matches = matches
        self.found = found
        self.hooked: dict[int, tuple[weakref.ref, object]] = {}

    def arm(self) -> None:
        """Hooks the parameters of all models seen so far, and of those that are seen later."""
        modules.on_root(self.hook)
        for root in modules.roots():
            self.hook(root)

    def release(self) -> None:
        """Takes all hooks away."""
        modules.off_root(self.hook)
        for _, handle in self.hooked.values():
            handle.remove()
        self.hooked.clear()

    def hook(self, root) -> None:
        """Hooks the parameters of one model that match."""
        for name, parameter in root.named_parameters():
            before = self.hooked.get(id(parameter))
            is_new = before is None or before[0]() is not parameter
            if is_new and parameter.requires_grad and self.matches(name):
                handle = self._register(_owner(root, name), name, parameter)
                self.hooked[id(parameter)] = (weakref.ref(parameter), handle)

    def _register(self, owner, name: str, parameter):
        """The hook's handle. The hook keeps neither the model nor the parameter alive."""
        owners = weakref.ref(owner)

        def tell(parameter, gradient) -> None:
            guarded.run("a gradient breakpoint", self._tell, owners(), name, parameter, gradient)

        if hasattr(parameter, "register_post_accumulate_grad_hook"):
            return parameter.register_post_accumulate_grad_hook(
                lambda parameter: tell(parameter, parameter.grad)
            )
        kept = weakref.ref(parameter)
        return parameter.register_hook(_unpickled(lambda gradient: tell(kept(), gradient)))

    def _tell(self, owner, name: str, parameter, gradient) -> None:
        path, _, short = name.rpartition(".")
        call = Call("gradient", name)
        call.module, call.layer, call.phase = path, modules.layer_of(path), "exit"
        call.instance, call.in_backward = owner, True
        call.original = getattr(type(owner).forward, "__wrapped__", type(owner).forward)
        call.tensors = {"grad": gradient, short: parameter}
        call.arguments = {"param": parameter}
        call.step, call.rank = steps.current(), steps.rank()
        self.found(call)


def _owner(root, name: str):
    """The module that a parameter belongs to, by the parameter's name."""
    owner = root
    for part in name.split(".")[:-1]:
        owner = getattr(owner, part)
    return owner
