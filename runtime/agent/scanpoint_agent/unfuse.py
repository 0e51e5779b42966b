"""Opening fused calls: the same numbers from a convolution, projections and a scan of their own.

The parts are the functions of the fused call's own module, so that each is a boundary. Vim's own
composed path drops the scan from right to left; the one here keeps both.
"""

from __future__ import annotations

from typing import Callable

from . import guarded


class _Settings:
    wanted = False


def configure(wanted: bool) -> None:
    """Whether fused calls are opened from now on."""
    _Settings.wanted = wanted


def wanted() -> bool:
    """Whether a person asked for fused calls to be opened."""
    return _Settings.wanted


def composed(guard, arguments: dict) -> Callable[[], object] | None:
    """What computes a fused call in parts; None where opening it would change the model."""
    scan, function = _OPENED.get(guard.target.opened, ("", None))
    scope = guard.original.__globals__
    if function is None or scan not in scope:
        return None
    refusal = _refusal(arguments)
    if refusal is None:
        return lambda: function(scope, **arguments)
    guarded.report(f"opening {guard.label}", ValueError(refusal))
    return None


def _refusal(arguments: dict) -> str | None:
    """Why a call can't be opened without changing its numbers, or None."""
    if guarded.is_tensor(arguments.get("A")) and arguments["A"].is_complex():
        return "it has a complex A, which the parts compute in another order."
    for name in ("b_rms_weight", "c_rms_weight", "dt_rms_weight"):
        if arguments.get(name) is not None:
            return f"it normalises inside ({name}), which the parts don't."
    return None


def _convolve(scope: dict, x, weight, bias, activation="silu", **extra):
    """x (B, D, L) -> (B, D, L), by the module's own causal_conv1d_fn where it has one."""
    function = scope.get("causal_conv1d_fn")
    if function is not None:
        return function(x, weight, bias, activation=activation, **extra)
    functional = guarded.torch().nn.functional
    width, length = weight.shape[-1], x.shape[-1]
    y = functional.conv1d(x, weight.unsqueeze(1), bias, padding=width - 1, groups=weight.shape[0])[
        ..., :length
    ]
    return functional.silu(y) if activation in ("silu", "swish") else y


def _select(scope: dict, a: dict):
    """What the scan of Mamba-1 gets: u, delta, B, C, z from the fused call's arguments."""
    linear = guarded.torch().nn.functional.linear
    rank, states = a["delta_proj_weight"].shape[1], a["A"].shape[-1]
    x, z = a["xz"].chunk(2, dim=1)  # (B, D, L) each
    u = _convolve(scope, x, a["conv1d_weight"].squeeze(1), a["conv1d_bias"])  # (B, D, L)
    selected = linear(u.transpose(1, 2), a["x_proj_weight"])  # (B, L, rank + 2 N)
    delta = linear(selected[..., :rank], a["delta_proj_weight"]).transpose(1, 2)  # (B, D, L)
    B, C = a.get("B"), a.get("C")
    if B is None:
        B = _of_step(selected[..., rank : rank + states], a.get("B_proj_bias"))
    if C is None:
        C = _of_step(selected[..., -states:], a.get("C_proj_bias"))
    return u, delta, B, C, z


def _of_step(projected, bias):
    """(B, L, N) -> (B, N, L)."""
    projected = projected if bias is None else projected + bias.to(projected.dtype)
    return projected.transpose(1, 2).contiguous()


def _mamba_inner(scope: dict, **a):
    u, delta, B, C, z = _select(scope, a)
    y = scope["selective_scan_fn"](
        u, delta, a["A"], B, C, a.get("D"), z, a.get("delta_bias"), a.get("delta_softplus", True)
    )
    return _project(y, a)


def _bimamba_inner(scope: dict, **a):
    u, delta, B, C, z = _select(scope, a)
    scan, bias, softplus = scope["selective_scan_fn"], a.get("delta_bias"), a["delta_softplus"]
    y = scan(u, delta, a["A"], B, C, a.get("D"), z, bias, softplus)
    u_b, delta_b, B_b, C_b, z_b = (t.flip(-1) for t in (u, delta, B, C, z))
    y_b = scan(u_b, delta_b, a["A_b"], B_b, C_b, a.get("D"), z_b, bias, softplus)
    return _project(y + y_b.flip(-1), a)


def _project(y, a: dict):
    """(B, D, L) -> (B, L, d_model), unless the fused call has no projection of its own."""
    if "out_proj_weight" not in a:
        return y
    linear = guarded.torch().nn.functional.linear
    return linear(y.transpose(1, 2), a["out_proj_weight"], a.get("out_proj_bias"))


def _split_conv1d(scope: dict, **a):
    """Mamba-2: zxbcdt (B, L, 2 D + 2 G N + H) -> (B, L, D or d_model)."""
    torch = guarded.torch()
    zxbcdt, heads, groups = a["zxbcdt"], a["dt_bias"].shape[0], a["ngroups"]
    head_dim = a["headdim"] if a["D"].dim() == 1 else a["D"].shape[1]
    dim = heads * head_dim
    states = (zxbcdt.shape[-1] - 2 * dim - heads) // groups // 2
    z, xBC, dt = torch.split(zxbcdt, [dim, dim + 2 * groups * states, heads], dim=-1)
    extra = {} if a.get("seq_idx") is None else {"seq_idx": a["seq_idx"]}
    xBC = _convolve(
        scope, xBC.transpose(1, 2), a["conv1d_weight"], a["conv1d_bias"], a["activation"], **extra
    ).transpose(1, 2)
    x, B, C = torch.split(xBC, [dim, groups * states, groups * states], dim=-1)
    gated = a.get("rmsnorm_weight") is None
    options = {"initial_states": a.get("initial_states"), "seq_idx": a.get("seq_idx")}
    out = scope["mamba_chunk_scan_combined"](
        x.unflatten(-1, (heads, head_dim)),
        dt,
        a["A"],
        B.unflatten(-1, (groups, states)),
        C.unflatten(-1, (groups, states)),
        chunk_size=a["chunk_size"],
        D=a["D"],
        z=z.unflatten(-1, (heads, head_dim)) if gated else None,
        dt_bias=a["dt_bias"],
        dt_softplus=True,
        dt_limit=a["dt_limit"],
        return_final_states=a["return_final_states"],
        **{name: value for name, value in options.items() if value is not None},
    )
    y, *last = out if isinstance(out, tuple) else (out,)
    y = y.flatten(2)  # (B, L, D)
    if not gated:
        y = _gated_norm(y, z, a, dim // groups)
    if a.get("outproj_weight") is not None:
        y = torch.nn.functional.linear(y, a["outproj_weight"], a.get("outproj_bias"))
    return (y, *last) if last else y


def _gated_norm(y, z, a: dict, group_size: int):
    """RMS norm over groups of channels, gated by silu(z) before or after it (Mamba-2)."""
    torch = guarded.torch()
    gate = torch.nn.functional.silu(z.float())
    x = y.float() if a["norm_before_gate"] else y.float() * gate
    grouped = x.unflatten(-1, (-1, group_size))
    scale = torch.rsqrt(grouped.square().mean(-1, keepdim=True) + a["rmsnorm_eps"])
    x = (grouped * scale).flatten(-2) * a["rmsnorm_weight"].float()
    return (x * gate if a["norm_before_gate"] else x).to(y.dtype)


# The scan that the parts need in the fused call's module, and what computes the call in parts.
_OPENED = {
    "mamba_inner": ("selective_scan_fn", _mamba_inner),
    "bimamba_inner": ("selective_scan_fn", _bimamba_inner),
    "split_conv1d": ("mamba_chunk_scan_combined", _split_conv1d),
}
