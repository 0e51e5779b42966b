"""Names for tensors that the views use, stable across stops: `scan:delta`, `step:h`, `frame:3:x`."""

from __future__ import annotations

from typing import NamedTuple

from . import places, replay
from .axes import axes_of
from .facts import is_tensor

_STALE = "This tensor belongs to a stop that is over; look at the current one."


class Named(NamedTuple):
    """A tensor with what `mamba/tensors` says of it."""

    id: str
    name: str
    role: str
    tensor: object
    axes: list[str]


def at(place: places.Place, frame_id: int | None) -> list[Named]:
    """All tensors at a place: of the open step, the boundary, the frame, and the module."""
    found = []
    if place.call is not None:
        scan = replay.current(place.thread)
        if scan is not None:
            found += [Named(f"step:{n}", n, "step", t, a) for n, t, a in replay.variables(scan)]
        found += _of_call(place.call)
    if frame_id is not None and (place.call is None or place.frame is place.call.frame):
        for name, tensor in places.local_tensors(place.frame).items():
            found.append(Named(f"frame:{frame_id}:{name}", name, "local", tensor, []))
    if place.call is not None:
        found += parameters(place.call)
    return found


def _of_call(call) -> list[Named]:
    scan = call.boundary == "selective_scan"
    found = []
    for name, tensor in call.tensors.items():
        role = "scan" if scan else "input" if name in call.inputs else "output"
        found.append(Named(f"scan:{name}", name, role, tensor, axes_of(call, name, tensor)))
    return found


def parameters(call) -> list[Named]:
    """Parameters and buffers of the module that makes the call, without its submodules'."""
    inner = getattr(call.instance, "__dict__", {})
    own = {**inner.get("_parameters", {}), **inner.get("_buffers", {})}
    tensors = {name: tensor for name, tensor in own.items() if is_tensor(tensor)}
    return [Named(f"param:{n}", n, "parameter", t, []) for n, t in tensors.items()]


def stop_number() -> int:
    """The number of the current stop."""
    scan = replay.current()
    return places.stop_number(scan.t if scan else None)


def find(tensor_id: str, stop: int | None = None) -> tuple[object, list[str]]:
    """A tensor and its axes. Raises ValueError in one sentence."""
    if stop is not None and stop != stop_number():
        raise ValueError(_STALE)
    try:
        frame_id = int(tensor_id.split(":")[1]) if tensor_id.startswith("frame:") else None
        place = places.of_frame(frame_id)
        if frame_id is not None:
            name = tensor_id.split(":", 2)[2]
            return places.local_tensors(place.frame)[name], []
        named = next(n for n in at(place, None) if n.id == tensor_id)
    except (LookupError, StopIteration, ValueError):
        raise ValueError(_STALE) from None
    return named.tensor, named.axes
