"""The children of a tensor: facts, statistics, gradient, and its elements in pages."""

from __future__ import annotations

from . import guarded
from .facts import Fact, Rows, attempt
from .kinds import readable
from .summary import layout, summarize
from .text import format_bytes, format_count, format_element, format_share, sparkline

# Alignments that vector loads (16), and cache lines and TMA (128, 256) ask for.
_ALIGNMENTS = (256, 128, 16)


def named(tensor) -> list[tuple[str, object]]:
    """Shape, strides, storage, gradient and statistics, by name. To be called inside `quiet`."""
    s = layout(tensor)
    strides = ", ".join(map(str, s["strides"]))
    size = attempt(lambda: tensor.element_size(), 0) * s["numel"]
    rows = [
        ("shape", Fact(f"[{', '.join(map(str, s['shape']))}]")),
        ("strides", Fact(f"({strides})" + ("" if s["contiguous"] else ", not contiguous"))),
        ("contiguous", Fact(str(s["contiguous"]))),
        ("dtype", Fact(s["dtype"])),
        ("device", Fact(s["device"])),
        ("elements", Fact(f"{format_count(s['numel'])}, {format_bytes(size)}")),
    ]
    rows += _storage(tensor, s)
    rows += _autograd(tensor)
    rows.append(("statistics", Statistics(tensor)))
    return rows


class Statistics:
    """The statistics of a tensor, computed when somebody opens them."""

    def __init__(self, tensor):
        self.tensor = tensor

    def rows(self) -> Rows:
        """A row each."""
        s = summarize(self.tensor)
        bad = s["posInf"] + s["negInf"]
        note = [("note", Fact(s["note"]))] if s.get("note") else []
        if not s["histogram"]:
            return Rows(note)
        bars = f"{sparkline(s['histogram'], 32)} ({len(s['histogram'])} bins from min to max)"
        return Rows(
            [
                *((name, _number(s[name])) for name in ("min", "max", "mean", "std", "absmax")),
                ("zeros", Fact(format_share(s["zeros"], s["numel"], "zero"))),
                ("NaN", Fact(format_share(s["nan"], s["numel"], "NaN"))),
                ("Inf", Fact(format_share(bad, s["numel"], "Inf"))),
                ("histogram", Fact(bars)),
                *note,
            ]
        )


def _number(x: float | None) -> Fact:
    return Fact("none is finite" if x is None else format_element(x))


def _storage(tensor, s: dict) -> list[tuple[str, object]]:
    if "storagePointer" not in s:
        return []
    offset = attempt(tensor.storage_offset, 0)
    pointer = s["storagePointer"] + offset * tensor.element_size()
    at = f" + {format_count(offset)} elements" if offset else ""
    return [
        ("storage", Fact(f"{s['storagePointer']:#x}{at}")),
        ("alignment", Fact(alignment(pointer))),
    ]


def alignment(pointer: int) -> str:
    """Which of 16, 128 and 256 bytes an address is a multiple of."""
    for i, size in enumerate(_ALIGNMENTS):
        if pointer % size == 0:
            return f"{size} bytes" + (f", not {_ALIGNMENTS[i - 1]}" if i else "")
    return "not to 16 bytes"


def _autograd(tensor) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    version = attempt(lambda: tensor._version, None)
    if version is not None:
        rows.append(("version", Fact(f"{version} in-place changes")))
    rows.append(("requires_grad", Fact(str(tensor.requires_grad))))
    if tensor.grad_fn is not None:
        rows.append(("grad_fn", Fact(tensor.grad_fn.name())))
    # Asking a tensor that keeps no gradient for it would warn.
    if tensor.requires_grad and (tensor.is_leaf or tensor.retains_grad):
        rows.append(("grad", Fact("None") if tensor.grad is None else tensor.grad))
    return rows


def count(tensor) -> int:
    """How many elements the first axis has; 0 where none can be listed."""
    plain = readable(tensor).data is not None and str(tensor.layout) == "torch.strided"
    listed = plain and not tensor.is_nested and tensor.dim() > 0
    return int(tensor.shape[0]) if listed else 0


def items(tensor, start: int, stop: int) -> list[tuple[str, object]]:
    """Elements `start` .. `stop - 1` of the first axis: tensors, or numbers fetched together."""
    if start >= stop:
        return []
    if tensor.dim() > 1:
        return [(f"[{i}]", tensor[i]) for i in range(start, stop)]
    page = tensor.detach()[start:stop]
    if page.is_quantized:
        page = page.dequantize()
    elif page.element_size() == 1 and page.is_floating_point():
        page = page.to(guarded.torch().float32)
    name = str(tensor.dtype).replace("torch.", "")
    return [(f"[{start + i}]", Fact(_element(x), name)) for i, x in enumerate(page.tolist())]


def _element(x: object) -> str:
    return format_element(x) if isinstance(x, float) else str(x)
