"""Which axis is which: the scan's tensors by the paper's letters, in the codebases' layouts."""

from __future__ import annotations

from .calls import Call

CHANNELS_FIRST, CHANNELS_LAST, HEADS = "BDL", "BLD", "BLHP"

_FIXED = {"D": "D", "delta_bias": "D", "bias": "D", "weight": "DW", "A_log": "DN"}


def layout_of(tensors: dict[str, object]) -> str | None:
    """How a scan's u is laid out; None where the tensors are not those of a scan over time."""
    u, delta, A, B = (_shape(tensors.get(name)) for name in ("u", "delta", "A", "B"))
    if u is None or delta is None or A is None or B is None:
        return None
    if len(u) == 4 and len(delta) == 3 and len(A) == 1:
        return HEADS
    if len(u) != 3 or len(A) != 2:
        return None
    if u[1] == A[0] and not (u[2] == A[0] and _time_first(u, A, B)):
        return CHANNELS_FIRST
    return CHANNELS_LAST if u[2] == A[0] else None


def _time_first(u: list[int], A: list[int], B: list[int]) -> bool:
    """With as many channels as steps, B tells: (B, L, N) or (B, N, L)."""
    return len(B) == 3 and B[1] == u[1] and B[2] == A[1] != B[1]


def _shape(tensor: object) -> list[int] | None:
    return None if tensor is None else [int(size) for size in tensor.shape]


def axes_of(call: Call, name: str, tensor) -> list[str]:
    """The letters of a tensor's axes, as many as it has; empty where they are not known."""
    letters = _letters(call, name, tensor)
    return list(letters) if letters and len(letters) == tensor.dim() else []


def _letters(call: Call, name: str, tensor) -> str | None:
    if call.boundary == "causal_conv1d":
        return "BDL" if name in ("x", "u", "y") else _FIXED.get(name)
    if call.boundary != "selective_scan":
        return None
    layout = layout_of(call.tensors)
    if layout is None:
        return None
    if name in ("u", "z", "y", "out"):
        return layout
    if layout == HEADS:
        heads = {"delta": "BLH", "A": "H", "B": "BLGN", "C": "BLGN", "delta_bias": "H", "h": "BHPN"}
        return {"D": "HP" if tensor.dim() == 2 else "H", **heads}.get(name)
    if name == "delta":
        return layout
    if name in ("B", "C"):
        time = "BNL" if layout == CHANNELS_FIRST else "BLN"
        return {2: "DN", 3: time, 4: "BGNL"}.get(tensor.dim())
    return {"A": "DN", "h": "BDN"}.get(name) or _FIXED.get(name)


_STEP = {
    "h": "BDN", "decay": "BDN", "kept": "BDN", "written": "BDN", "u_t": "BD", "delta_t": "BD",
    "z_t": "BD", "y_t": "BD", "B_t": "BDN", "C_t": "BDN",
}  # fmt: skip


def step_axes(name: str, tensor) -> list[str]:
    """The letters of a tensor of one time step."""
    if name in ("B_t", "C_t") and tensor.dim() == 2:
        return ["B", "N"]
    letters = _STEP.get(name, "")
    return list(letters) if len(letters) == tensor.dim() else []
