"""NaN and Inf in a tensor: how many, and where the first one is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import guarded
from .kinds import readable
from .quiet import quiet
from .text import format_count

WORDS = {"nan": "NaN", "inf": "Inf"}
TITLES = {
    "nan": "NaN produced",
    "inf": "Inf produced",
    "exploding": "Exploding gradient",
    "vanishing": "Vanishing gradient",
}


class Bad(NamedTuple):
    """What a tensor has of NaN, or of Inf."""

    name: str
    filter: str
    count: int
    first: str

    def text(self) -> str:
        """`delta has 12 NaN, first at [B 0, D 3, L 5]`."""
        return f"{self.name} has {format_count(self.count)} {WORDS[self.filter]}, first at {self.first}"


def bad_of(name: str, tensor, which: str, axes: Sequence[str] = ()) -> Bad | None:
    """The NaN (`which` "nan") or Inf ("inf") of a tensor; None when it has none."""
    with quiet():
        data = readable(tensor).data
        if data is None:
            return None
        if data.element_size() == 1:
            data = data.float()
        mask = (data.isnan() if which == "nan" else data.isinf()).reshape(-1)
        if mask.numel() == 0:
            return None
        place = mask.to(guarded.torch().uint8).argmax()
        numbers = guarded.torch().stack((mask.sum(), place)).tolist()
        if numbers[0] == 0:
            return None
        return Bad(name, which, numbers[0], index_text(numbers[1], list(data.shape), axes))


def index_text(flat: int, shape: Sequence[int], axes: Sequence[str] = ()) -> str:
    """An index with the names of its axes: `[B 0, D 3, L 5]`."""
    index = []
    for size in reversed(shape):
        index.append(flat % size)
        flat //= size
    named = list(axes) if len(axes) == len(shape) else [""] * len(shape)
    words = (f"{name} {i}".strip() for name, i in zip(named, reversed(index)))
    return f"[{', '.join(words)}]"


def tensors_in(value: object, name: str, depth: int = 3) -> dict[str, object]:
    """The tensors in the arguments or results of a call, by where they are."""
    if guarded.is_tensor(value):
        return {name: value}
    if depth == 0:
        return {}
    if isinstance(value, dict):
        parts = [(f"{name}.{key}", item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        parts = [(f"{name}[{i}]", item) for i, item in enumerate(value)]
    else:
        return {}
    return {k: t for part, item in parts for k, t in tensors_in(item, part, depth - 1).items()}
