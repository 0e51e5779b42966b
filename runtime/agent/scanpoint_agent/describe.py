"""Any object of the program as one line, and its curated children.

An object that we have nothing better to say about than debugpy has no `Kind`. Descriptions of
several objects are made together, so that their tensors are fetched in one synchronisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable, NamedTuple

from . import containers, objects, tensorfacts
from .budget import Budget
from .facts import Fact, Rows, attempt, is_a, is_tensor, short
from .quiet import quiet
from .summary import summarize_all
from .text import one_line

# Without paging in the client, at most this many elements are listed.
UNPAGED = 1000


class Kind(NamedTuple):
    """How the objects of one kind are shown."""

    matches: Callable[[object], bool]
    line: Callable[[object], str]
    named: Callable[[object], list[tuple[str, object]]]
    # Indexed children, in pages.
    count: Callable[[object], int] = lambda _: 0
    items: Callable[[object, int, int], list[tuple[str, object]]] = lambda *_: []


def _instance(module: str, name: str) -> Callable[[object], bool]:
    """Whether an object is of a class that is known once its module is imported."""

    def matches(value: object) -> bool:
        found = objects.class_of(module, name)
        return found is not None and is_a(value, found)

    return matches


def _rows_of(statistics) -> list[tuple[str, object]]:
    return list(statistics.rows().rows)


TENSOR = Kind(is_tensor, lambda _: "", tensorfacts.named, tensorfacts.count, tensorfacts.items)
KINDS = (
    TENSOR,
    Kind(lambda x: type(x) is Rows, lambda x: x.text, lambda x: list(x.rows)),
    Kind(lambda x: is_a(x, tensorfacts.Statistics), lambda _: "", _rows_of),
    Kind(_instance("torch.nn", "Module"), objects.module_line, objects.module_children),
    Kind(_instance("torch.optim", "Optimizer"), objects.optimizer_line, objects.optimizer_children),
    Kind(_instance("torch.utils.data", "DataLoader"), objects.loader_line, objects.loader_children),
    Kind(_instance("torch", "Generator"), objects.generator_line, objects.generator_children),
    Kind(
        lambda x: containers.is_container(x) and containers.holds_tensors(x),
        containers.line,
        lambda _: [],
        containers.count,
        containers.children,
    ),
)


def kind_of(value: object) -> Kind | None:
    """How an object is shown; None where debugpy's way is as good."""
    return next((kind for kind in KINDS if attempt(lambda k=kind: k.matches(value), False)), None)


def line(value: object, budget: Budget | None = None) -> str:
    """The one-line form of any object."""
    return lines([value], budget)[0]


def lines(values: Sequence[object], budget: Budget | None = None) -> list[str]:
    """One line per object, in one synchronisation; never raises."""
    places = [i for i, value in enumerate(values) if is_tensor(value)]
    summaries = summarize_all([values[i] for i in places], budget or Budget())
    texts = {i: one_line(summary) for i, summary in zip(places, summaries)}
    with quiet():
        return [texts[i] if i in texts else _plain(value) for i, value in enumerate(values)]


def _plain(value: object) -> str:
    if is_a(value, Fact):
        return value.text
    kind = kind_of(value)
    return short(value) if kind is None else attempt(lambda: kind.line(value), short(value))


def type_name(value: object) -> str:
    """What the Variables view shows as the type."""
    if is_a(value, Fact):
        return value.type
    if is_a(value, (Rows, tensorfacts.Statistics)):
        return ""
    return type(value).__name__


def variables(pairs: Sequence[tuple[str, object]], budget: Budget | None = None) -> list[dict]:
    """Named objects as {name, value, type, children, indexed?}."""
    texts = lines([value for _, value in pairs], budget)
    found = []
    with quiet():
        for (name, value), text in zip(pairs, texts):
            entry = {"name": name, "value": text, "type": type_name(value)}
            entry.update(_has_children(value))
            found.append(entry)
    return found


def _has_children(value: object) -> dict:
    kind = None if is_a(value, Fact) else kind_of(value)
    if kind is None:
        return {"children": _has_attributes(value)}
    indexed = attempt(lambda: kind.count(value), 0)
    return {"children": True, "indexed": indexed} if indexed else {"children": True}


def _has_attributes(value: object) -> bool:
    if is_a(value, (Fact, int, float, complex, str, bytes, bool, type(None), type)):
        return False
    return is_a(value, (list, tuple, dict)) or bool(_attributes(value))


def named(value: object) -> list[tuple[str, object]]:
    """The named children of an object; its attributes where we know nothing better."""
    kind = kind_of(value)
    if kind:
        return kind.named(value)
    if containers.is_container(value):
        return containers.children(value, 0, UNPAGED)
    attributes = _attributes(value)
    return [(name, value) for name, value in attributes.items() if not name.startswith("__")]


def _attributes(value: object) -> dict[str, object]:
    """An object's own dict, without asking its class."""
    return attempt(lambda: object.__getattribute__(value, "__dict__"), {})


def members(value: object, args: dict) -> list[tuple[str, object]]:
    """The children that a client asks for: `filter` "named" or "indexed", `start`, `count`."""
    with quiet():
        # A page without a filter is one of elements.
        only = args.get("filter") or ("indexed" if args.get("count") else None)
        kind = kind_of(value)
        found = [] if only == "indexed" else named(value)
        if kind and only != "named":
            total = kind.count(value)
            # The page counts elements only when the client asked for elements.
            start = int(args.get("start") or 0) if only == "indexed" else 0
            wanted = int(args.get("count") or UNPAGED) if only == "indexed" else UNPAGED
            found += kind.items(value, min(start, total), min(start + wanted, total))
        return found


def member(value: object, name: str) -> object:
    """The child of that name. Raises KeyError when there is none."""
    with quiet():
        for own, child in named(value):
            if own == name:
                return child
        kind = kind_of(value)
        index = _index(name)
        if kind and index is not None and index < kind.count(value):
            return kind.items(value, index, index + 1)[0][1]
        for own, child in kind.items(value, 0, kind.count(value)) if kind else ():
            if own == name:
                return child
    raise KeyError(name)


def _index(name: str) -> int | None:
    """The number in `[3]` or `3`."""
    text = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    return int(text) if text.isdigit() else None
