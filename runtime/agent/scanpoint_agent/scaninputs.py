"""The kept inputs of a scan in one form, whatever form the codebase passes them in.

u, delta, z: (B, D, L). A: (D, N). B, C: (B or 1, G, N, L or 1), G groups of channels. D: (D,). All in float32, or float64
where u is; delta with its bias and softplus. Heads of Mamba-2 are unfolded to channels.
"""

from __future__ import annotations

from typing import NamedTuple

from . import axes, guarded
from .calls import Call


class ScanInputs(NamedTuple):
    """See above; the tensors are views where they can be."""

    u: object
    delta: object
    A: object
    B: object
    C: object
    D: object | None
    z: object | None
    h: object | None
    # Brings y (B, D, L) into the layout that the function returns.
    layout: str

    @property
    def length(self) -> int:
        """How many time steps there are."""
        return self.u.shape[2]


def inputs_of(call: Call) -> ScanInputs:
    """The inputs of a call of a scan. Raises ValueError in one sentence."""
    if call.boundary != "selective_scan":
        raise ValueError("Only a selective scan can be opened; this is another boundary.")
    layout = axes.layout_of(call.tensors)
    names = ("u", "delta", "A", "B", "C")
    missing = [name for name in names if name not in call.tensors]
    if missing or layout is None:
        lacks = f"it has no {', '.join(missing)}" if missing else "its shapes are not those of one"
        raise ValueError(f"This call can't be opened as a scan over t: {lacks}.")
    form = _heads if layout == axes.HEADS else _channels
    return form(call, layout)


def _delta(call: Call, delta, bias_shape: tuple[int, ...]):
    """delta as the recurrence takes it: with bias, softplus and limits."""
    torch = guarded.torch()
    bias = call.tensors.get("delta_bias")
    if bias is not None:
        delta = delta + bias.detach().to(delta.dtype).view(bias_shape)
    softplus = any(call.arguments.get(name) for name in ("delta_softplus", "dt_softplus"))
    if softplus:
        delta = torch.nn.functional.softplus(delta)
    limits = call.arguments.get("dt_limit")
    if isinstance(limits, (tuple, list)) and tuple(limits) != (0.0, float("inf")):
        delta = delta.clamp(*limits)
    return delta


def _wide(call: Call):
    """How a tensor is taken: detached, in float32, or float64 where u is."""
    torch = guarded.torch()
    wide = torch.float64 if call.tensors["u"].dtype == torch.float64 else torch.float32

    def take(name: str):
        tensor = call.tensors.get(name)
        if tensor is None:
            return None
        return tensor.detach() if tensor.is_complex() else tensor.detach().to(wide)

    return take


def _channels(call: Call, layout: str) -> ScanInputs:
    take = _wide(call)
    last = layout == axes.CHANNELS_LAST

    def turned(name: str):
        tensor = take(name)
        return tensor.transpose(1, 2) if tensor is not None and last else tensor

    u, A = turned("u"), take("A")
    delta = _delta(call, turned("delta"), (-1, 1))
    B, C = (_selective(take(name), A, last) for name in ("B", "C"))
    return ScanInputs(u, delta, A, B, C, take("D"), turned("z"), _first_state(call, take), layout)


def _selective(x, A, last: bool):
    """B or C: (D, N), (B, N, L), (B, L, N) or (B, G, N, L) -> (B or 1, G, N, L or 1)."""
    torch = guarded.torch()
    if x.dim() == 2:
        return x[None, :, :, None]
    if x.dim() == 3:
        x = (x.transpose(1, 2) if last else x)[:, None]
    if A.is_complex() and not x.is_complex():
        # The reference code keeps real and imaginary parts next to each other along L.
        x = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return x


def _first_state(call: Call, take):
    """The state before the first step, where the caller passes one."""
    names = ("initial_states", "h", "ssm_state")
    return next((take(n) for n in names if n in call.inputs and call.tensors[n].dim() > 2), None)


def _heads(call: Call, layout: str) -> ScanInputs:
    """Mamba-2: u (B, L, H, P), delta (B, L, H), A (H), B, C (B, L, G, N), D (H) or (H, P)."""
    take = _wide(call)
    u = take("u")
    width = u.shape[3]
    delta = _delta(call, take("delta"), (-1,)).transpose(1, 2).repeat_interleave(width, dim=1)
    states = call.tensors["B"].shape[-1]
    A = take("A").repeat_interleave(width)[:, None].expand(-1, states)
    B, C = (take(name).permute(0, 2, 3, 1) for name in ("B", "C"))
    D, z, h = take("D"), take("z"), _first_state(call, take)
    if D is not None:
        D = D.reshape(-1) if D.dim() == 2 else D.repeat_interleave(width)
    z = None if z is None else _unfolded(z)
    return ScanInputs(
        _unfolded(u), delta, A, B, C, D, z, None if h is None else h.flatten(1, 2), layout
    )


def _unfolded(x):
    """(B, L, H, P) -> (B, D, L)."""
    return x.flatten(2).transpose(1, 2)


def as_channels(y, layout: str):
    """The function's output as (B, D, L)."""
    if layout == axes.HEADS:
        return _unfolded(y)
    return y.transpose(1, 2) if layout == axes.CHANNELS_LAST else y
