"""Lines and items of containers that hold tensors, without asking a tensor for its text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import chain, islice

from .facts import attempt, is_a, is_tensor, short
from .text import format_bytes, format_count

# How many items are looked at in all to know whether a container holds tensors.
_LOOKED_AT = 64
# Beyond so many items no total is made.
_SUMMED = 10_000
_SHOWN = 4
_DEPTH = 3


def values(container: object) -> Iterator[object]:
    """The items of a list, tuple, dict or dataclass; no code of the program's classes runs."""
    if is_a(container, dict):
        return iter(dict.values(container))
    if is_a(container, list):
        return list.__iter__(container)
    if is_a(container, tuple):
        return tuple.__iter__(container)
    return iter([value for _, value in _fields(container)])


def _fields(record: object) -> list[tuple[str, object]]:
    own = attempt(lambda: object.__getattribute__(record, "__dict__"), {})
    names = [field.name for field in dataclasses.fields(record)]
    return [(name, own[name]) for name in names if name in own]


def is_container(value: object) -> bool:
    """Whether a value is of a kind that can hold tensors."""
    if is_a(value, (dict, list, tuple)):
        return True
    return dataclasses.is_dataclass(type(value)) and not is_a(value, type)


def holds_tensors(container: object) -> bool:
    """Whether a tensor is among the first items, or in a container among them."""
    layer = [container]
    left = _LOOKED_AT
    for _ in range(_DEPTH):
        items = list(islice(chain.from_iterable(map(values, layer)), left))
        if any(is_tensor(item) for item in items):
            return True
        left -= len(items)
        layer = [item for item in items if is_container(item)]
    return False


def line(container: object) -> str:
    """`3 tensors, 75,648 elements, 303 kB` when all are, else the first few items."""
    items = list(values(container)) if 1 < count(container) <= _SUMMED else []
    if items and all(is_tensor(item) for item in items):
        numel = sum(attempt(lambda t=t: int(t.numel()), 0) for t in items)
        size = sum(attempt(lambda t=t: int(t.numel()) * t.element_size(), 0) for t in items)
        total = f"{format_count(numel)} elements, {format_bytes(size)}"
        return f"{len(items)} tensors, {total}: {_first(container)}"
    return _first(container)


def _first(container: object) -> str:
    named = children(container, 0, _SHOWN)
    keyed = not is_a(container, (list, tuple)) or hasattr(type(container), "_fields")
    words = [f"{name}: {_item(v)}" if keyed else _item(v) for name, v in named]
    more = ["…"] if count(container) > len(named) else []
    opening, closing = "[]" if is_a(container, list) else "{}" if keyed else "()"
    return f"{opening}{', '.join(words + more)}{closing}"


def _key(key: object) -> str:
    return repr(key) if is_a(key, (str, int)) else short(key)


def _item(value: object) -> str:
    if is_tensor(value):
        dtype = str(value.dtype).replace("torch.", "")
        shape = attempt(lambda: [int(n) for n in value.shape], "?")
        return f"{dtype} {shape}"
    return short(value)


def count(container: object) -> int:
    """How many items there are."""
    for kind in (dict, list, tuple):
        if is_a(container, kind):
            return kind.__len__(container)
    return len(_fields(container))


def children(container: object, start: int, stop: int) -> list[tuple[str, object]]:
    """Items `start` .. `stop - 1` with the names that debugpy gives them."""
    if is_a(container, dict):
        pairs = [(_key(key), value) for key, value in islice(dict.items(container), start, stop)]
    elif hasattr(type(container), "_fields"):
        pairs = list(zip(container._fields, values(container)))[start:stop]
    elif is_a(container, (list, tuple)):
        pairs = list(zip(map(str, range(start, stop)), islice(values(container), start, stop)))
    else:
        pairs = _fields(container)[start:stop]
    return pairs
