"""Where in time a scan makes its first NaN or Inf, and which factor does it."""

from __future__ import annotations

from typing import NamedTuple

from . import guarded
from .calls import Call
from .quiet import quiet
from .recurrence import CHUNK, Recurrence
from .scaninputs import inputs_of
from .text import format_number

# What a step computes, in its order: name, formula, and what it is computed from.
_QUANTITIES = (
    ("decay", "exp(delta_t A)", ("delta_t", "A")),
    ("kept", "decay h_(t-1)", ("decay",)),
    ("written", "delta_t B_t u_t", ("delta_t", "B_t", "u_t")),
    ("h", "kept + written", ("kept", "written")),
    ("y_t", "(C_t h + D u_t) silu(z_t)", ("C_t", "h", "D", "u_t", "z_t")),
)


class ScanOrigin(NamedTuple):
    """The first bad quantity of the replayed recurrence."""

    t: int
    quantity: str
    place: str
    text: str


def find(call: Call, which: str) -> ScanOrigin | None:
    """The origin of the NaN or Inf in a scan's output; None where the float32 replay is healthy."""
    torch = guarded.torch()
    is_bad = torch.isnan if which == "nan" else torch.isinf
    with quiet():
        try:
            steps = Recurrence(inputs_of(call))
        except ValueError:
            return None
        for number in range(-(-steps.length // CHUNK)):
            chunk = steps.chunk(number)
            names = [name for name, _, _ in _QUANTITIES]
            if torch.stack([is_bad(chunk[name]).any() for name in names]).any():
                return _in_chunk(steps, number, is_bad)
    return None


def _in_chunk(steps: Recurrence, number: int, is_bad) -> ScanOrigin:
    chunk = steps.chunk(number)
    length = len(chunk["h"])
    for i in range(length):
        steps.seek(number * CHUNK + i)
        tensors = {**steps.tensors(), "A": steps.inputs.A, "D": steps.inputs.D}
        for name, formula, factors in _QUANTITIES:
            mask = is_bad(tensors[name])
            if mask.any():
                index = mask.nonzero()[0].tolist()
                return _described(steps.t, name, formula, factors, tensors, index)
    raise AssertionError("a chunk with a bad element has a step with one")


def _described(t, name, formula, factors, tensors, index: list[int]) -> ScanOrigin:
    letters = ("b", "d", "n")[: len(index)]
    place = " ".join([f"t={t}", *(f"{a}={i}" for a, i in zip(letters[1:], index[1:]))])
    if index[0]:
        place += f" of batch element {index[0]}"
    value = tensors[name][tuple(index)].item()
    at = dict(zip(letters, index))
    words = [
        f"{factor} {format_number(abs(x) if isinstance(x, complex) else x)}"
        for factor in factors
        if tensors.get(factor) is not None
        for x in [_largest(factor, tensors[factor], at)]
    ]
    shown = format_number(abs(value) if isinstance(value, complex) else value)
    text = f"{name.replace('_t', '')} = {formula} is {shown}, from {', '.join(words)}"
    return ScanOrigin(t, name.replace("_t", ""), place, text)


def _largest(name: str, tensor, at: dict[str, int]):
    """The value at an index; over axes that the index lacks, NaN or that of largest magnitude."""
    axes = {2: "dn" if name == "A" else "bd", 1: "d"}.get(tensor.dim(), "bdn")
    if name in ("B_t", "C_t") and tensor.dim() == 2:
        axes = "bn"
    index = tuple(
        min(at[axis], size - 1) if axis in at else slice(None)
        for axis, size in zip(axes, tensor.shape)
    )
    part = tensor[index].reshape(-1)
    return part[part.abs().argmax()].item()
