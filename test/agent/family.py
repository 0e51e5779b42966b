"""Packages of the Mamba family in small: the published modules, names and signatures, in PyTorch."""

from __future__ import annotations

from pathlib import Path

INTERFACE = """
import torch
import torch.nn.functional as F
from causal_conv1d import causal_conv1d_fn


class SelectiveScanFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False,
                return_last_state=False):
        return selective_scan_ref(u, delta, A, B, C, D, z, delta_bias, delta_softplus)


def selective_scan_fn(u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False,
                      return_last_state=False):
    return selective_scan_ref(u, delta, A, B, C, D, z, delta_bias, delta_softplus,
                              return_last_state)


def selective_scan_ref(u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False,
                       return_last_state=False):
    if delta_bias is not None:
        delta = delta + delta_bias[:, None]
    if delta_softplus:
        delta = F.softplus(delta)
    h = torch.zeros(u.shape[0], u.shape[1], A.shape[1])
    ys = []
    for t in range(u.shape[2]):
        h = torch.exp(delta[:, :, t, None] * A) * h
        h = h + (delta[:, :, t] * u[:, :, t])[..., None] * B[:, None, :, t]
        ys.append((h * C[:, None, :, t]).sum(-1))
    y = torch.stack(ys, -1)
    y = y if D is None else y + u * D[:, None]
    y = y if z is None else y * F.silu(z)
    return (y, h) if return_last_state else y


def _inner(xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight):
    x, z = xz.chunk(2, dim=1)
    L, width, rank = xz.shape[-1], conv1d_weight.shape[-1], delta_proj_weight.shape[1]
    u = F.silu(F.conv1d(x, conv1d_weight, conv1d_bias, padding=width - 1, groups=x.shape[1])[..., :L])
    projected = x_proj_weight @ u
    n = (projected.shape[1] - rank) // 2
    delta = delta_proj_weight @ projected[:, :rank]
    return u, delta, projected[:, rank:rank + n], projected[:, rank + n:], z


def mamba_inner_fn(
    xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight, out_proj_weight,
    out_proj_bias, A, B=None, C=None, D=None, delta_bias=None, B_proj_bias=None,
    C_proj_bias=None, delta_softplus=True
):
    u, delta, B, C, z = _inner(xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight)
    y = selective_scan_ref(u, delta, A, B, C, D, z, delta_bias, True)
    return F.linear(y.transpose(1, 2), out_proj_weight, out_proj_bias)


def mamba_inner_fn_no_out_proj(
    xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight, A, B=None, C=None, D=None,
    delta_bias=None, B_proj_bias=None, C_proj_bias=None, delta_softplus=True
):
    u, delta, B, C, z = _inner(xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight)
    return selective_scan_ref(u, delta, A, B, C, D, z, delta_bias, True)


def bimamba_inner_fn(
    xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight, out_proj_weight,
    out_proj_bias, A, A_b, B=None, C=None, D=None, delta_bias=None, B_proj_bias=None,
    C_proj_bias=None, delta_softplus=True
):
    u, delta, B, C, z = _inner(xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight)
    y = selective_scan_ref(u, delta, A, B, C, D, z, delta_bias, True)
    flipped = (t.flip(-1) for t in (u, delta, B, C, z))
    u, delta, B, C, z = flipped
    y = y + selective_scan_ref(u, delta, A_b, B, C, D, z, delta_bias, True).flip(-1)
    return F.linear(y.transpose(1, 2), out_proj_weight, out_proj_bias)
"""

CONV = """
import torch.nn.functional as F


def causal_conv1d_fn(x, weight, bias=None, seq_idx=None, initial_states=None,
                     return_final_states=False, final_states_out=None, activation=None):
    L, width = x.shape[-1], weight.shape[-1]
    y = F.conv1d(x, weight.unsqueeze(1), bias, padding=width - 1, groups=x.shape[1])[..., :L]
    return F.silu(y) if activation in ("silu", "swish") else y


def causal_conv1d_update(x, conv_state, weight, bias=None, activation=None, cache_seqlens=None):
    conv_state.copy_(conv_state.roll(-1, -1))
    conv_state[..., -1] = x
    y = (conv_state * weight).sum(-1)
    return y if bias is None else y + bias
"""

SSD = """
import torch
import torch.nn.functional as F
from causal_conv1d import causal_conv1d_fn


def mamba_chunk_scan_combined(
    x, dt, A, B, C, chunk_size, D=None, z=None, dt_bias=None, initial_states=None, seq_idx=None,
    cu_seqlens=None, dt_softplus=False, dt_limit=(0.0, float("inf")), return_final_states=False,
    return_varlen_states=False
):
    dt = dt if dt_bias is None else dt + dt_bias
    dt = F.softplus(dt) if dt_softplus else dt
    h = torch.zeros(*x.shape[:1], *x.shape[2:], B.shape[-1])
    repeat = x.shape[2] // B.shape[2]
    B, C = B.repeat_interleave(repeat, 2), C.repeat_interleave(repeat, 2)
    ys = []
    for t in range(x.shape[1]):
        decay = torch.exp(dt[:, t] * A)[..., None, None]
        h = decay * h + (dt[:, t, :, None] * x[:, t])[..., None] * B[:, t, :, None]
        ys.append((h * C[:, t, :, None]).sum(-1))
    y = torch.stack(ys, 1)
    y = y if D is None else y + x * (D[:, None] if D.dim() == 1 else D)
    y = y if z is None else y * F.silu(z)
    return (y, h) if return_final_states else y


def mamba_split_conv1d_scan_combined(
    zxbcdt, conv1d_weight, conv1d_bias, dt_bias, A, D, chunk_size, initial_states=None,
    seq_idx=None, dt_limit=(0.0, float("inf")), return_final_states=False, activation="silu",
    rmsnorm_weight=None, rmsnorm_eps=1e-6, outproj_weight=None, outproj_bias=None, headdim=None,
    ngroups=1, norm_before_gate=True
):
    heads = dt_bias.shape[0]
    dim = heads * headdim
    n = (zxbcdt.shape[-1] - 2 * dim - heads) // ngroups // 2
    z, xBC, dt = torch.split(zxbcdt, [dim, dim + 2 * ngroups * n, heads], -1)
    width, L = conv1d_weight.shape[-1], xBC.shape[1]
    xBC = F.conv1d(xBC.transpose(1, 2), conv1d_weight[:, None], conv1d_bias, padding=width - 1,
                   groups=xBC.shape[2])[..., :L].transpose(1, 2)
    x, B, C = torch.split(F.silu(xBC), [dim, ngroups * n, ngroups * n], -1)
    x = x.unflatten(-1, (heads, headdim))
    B, C = B.unflatten(-1, (ngroups, n)), C.unflatten(-1, (ngroups, n))
    y = mamba_chunk_scan_combined(x, dt, A, B, C, chunk_size, D, None, dt_bias, dt_softplus=True)
    y = y.flatten(2)
    if rmsnorm_weight is None:
        y = y * F.silu(z)
    else:
        y = y * F.silu(z) if not norm_before_gate else y
        grouped = y.unflatten(-1, (ngroups, -1))
        y = grouped / (grouped.pow(2).mean(-1, keepdim=True) + rmsnorm_eps).sqrt()
        y = y.flatten(2) * rmsnorm_weight
        y = y * F.silu(z) if norm_before_gate else y
    return y if outproj_weight is None else F.linear(y, outproj_weight, outproj_bias)
"""

UPDATE = """
import torch


def selective_state_update(state, x, dt, A, B, C, D=None, z=None, dt_bias=None,
                           dt_softplus=False):
    state.copy_(state * torch.exp(dt[..., None] * A) + (dt * x)[..., None] * B[:, None])
    return (state * C[:, None]).sum(-1)
"""

FILES = {
    "causal_conv1d/__init__.py": (
        "from causal_conv1d.causal_conv1d_interface import causal_conv1d_fn, causal_conv1d_update\n"
    ),
    "causal_conv1d/causal_conv1d_interface.py": CONV,
    "mamba_ssm/__init__.py": "",
    "mamba_ssm/ops/__init__.py": "",
    "mamba_ssm/ops/selective_scan_interface.py": INTERFACE,
    "mamba_ssm/ops/triton/__init__.py": "",
    "mamba_ssm/ops/triton/ssd_combined.py": SSD,
    "mamba_ssm/ops/triton/selective_state_update.py": UPDATE,
}


def write(folder: Path, files: dict[str, str] = FILES) -> None:
    """Writes packages below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
