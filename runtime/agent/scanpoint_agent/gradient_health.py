"""Gradients that explode, vanish or are not finite: one look at all of them per backward pass."""

from __future__ import annotations

import math
import sys
from typing import ClassVar

from . import guarded, stops, told
from .badvalues import TITLES, WORDS, bad_of
from .calls import Call
from .gradients import Parameters
from .kinds import readable
from .quiet import quiet, unreadable
from .text import format_number
from .userframes import innermost

# Norms beyond which a gradient is called so, unless the person says otherwise.
THRESHOLDS = {"exploding": 1e3, "vanishing": 1e-7}
# Backward passes inside of each other, as checkpointing has them.
_AT_ONCE = 8


class _State:
    filters: ClassVar[dict[str, float | None]] = {}
    hooks: Parameters | None = None
    # Gradients of the backward passes that run, with their norms on the device.
    norms: ClassVar[dict[object, list[tuple[Call, object]]]] = {}


def watch(filters: dict[str, float | None]) -> None:
    """Looks at the gradients of all parameters while one of the filters is on."""
    _State.filters = filters
    if filters and _State.hooks is None:
        _State.hooks = Parameters(lambda _name: True, _take)
        _State.hooks.arm()
    elif not filters:
        off()


def off() -> None:
    """Takes all hooks away."""
    if _State.hooks is not None:
        _State.hooks.release()
        _State.hooks = None
    _State.norms.clear()


def _take(call: Call) -> None:
    """Notes the norm of a completed gradient; the device is not waited for."""
    if unreadable():
        return
    with quiet():
        torch = guarded.torch()
        data = readable(call.tensors["grad"]).data
        if data is None or data.numel() == 0:
            return
        wide = torch.float64 if data.dtype == torch.float64 else torch.float32
        norm = torch.linalg.vector_norm(data, dtype=wide)
    task = getattr(torch._C, "_current_graph_task_id", lambda: None)()
    noted = _State.norms.setdefault(task, [])
    noted.append((call, norm))
    if len(noted) == 1:
        _forget_failed(task)
        torch.autograd.Variable._execution_engine.queue_callback(
            lambda: guarded.run("the gradient filters", _look, task, disarm=off)
        )


def _forget_failed(task: object) -> None:
    """A backward pass that raised never comes to its end."""
    while len(_State.norms) > _AT_ONCE:
        del _State.norms[next(key for key in _State.norms if key != task)]


def _look(task: object) -> None:
    """After the backward pass: all norms in one synchronisation, the first beyond a limit stops."""
    noted = _State.norms.pop(task, [])
    if not noted or _State.hooks is None:
        return
    with quiet():
        torch = guarded.torch()
        device = noted[0][1].device
        norms = torch.stack([norm.to(device, torch.float32) for _, norm in noted]).tolist()
    # Autograd completes the gradients from the loss backwards: the first found is the nearest to it.
    for which in _State.filters:
        for (call, _), norm in zip(noted, norms):
            followed = which in WORDS and told.something()
            text = None if followed else _finding(which, call, norm)
            if text:
                told.now(which, call.module)
                call.frame = innermost(sys._getframe())
                stops.stop("exception", TITLES[which], text, call, frame=call.frame)
                break


def _finding(which: str, call: Call, norm: float) -> str | None:
    name = call.function
    if which in WORDS:
        bad = None if math.isfinite(norm) else bad_of(name, call.tensors["grad"], which)
        return f"the gradient of {bad.text()}." if bad else None
    chosen = _State.filters[which]
    limit = THRESHOLDS[which] if chosen is None else chosen
    beyond = norm > limit if which == "exploding" else norm < limit
    if not beyond:
        return None
    sign = ">" if which == "exploding" else "<"
    return (
        f"{name}: the norm of its gradient is {format_number(norm)} {sign} {format_number(limit)}."
    )
