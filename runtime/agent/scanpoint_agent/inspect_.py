"""Answers about what can be seen at a stop: variables, scopes, `mamba/tensors`, gradients, sites."""

from __future__ import annotations

import math

from . import describe, modules, places, references, tensor_ids
from .budget import Budget
from .calls import Call
from .facts import Fact, attempt, is_a
from .replay import current as open_scan
from .summary import statistics_of, summarize_all

# Milliseconds for one `mamba/tensors` reply, unless the request says otherwise.
_TENSORS_MS = 200.0


def variables(args: dict) -> list[dict] | None:
    """The children of a debugpy reference, where ours are better; None leaves debugpy's answer."""
    value = references.value(args["reference"])
    if is_a(value, references.Scope) or describe.kind_of(value) is None:
        return None
    return describe.variables(describe.members(value, args))


def rewrite(args: dict) -> dict[str, dict]:
    """Better lines for some of a reference's variables, by name; the others are left out.

    The empty name stands for the object of the reference itself, as `evaluate` gives it.
    """
    parent = references.value(args["reference"])
    pairs = []
    for name in args["names"]:
        try:
            value = references.child(parent, name) if name else parent
        except (KeyError, StopIteration):
            continue
        if describe.kind_of(value) is not None:
            pairs.append((name, value))
    found = describe.variables(pairs)
    return {
        entry["name"]: {
            "value": entry["value"],
            "type": entry["type"],
            "hasOwnChildren": entry["children"],
            **({"indexed": entry["indexed"]} if "indexed" in entry else {}),
        }
        for entry in found
    }


def children(args: dict) -> list[dict]:
    """Curated children of what `path` leads to: names from a debugpy reference or a tensor id."""
    path = args["path"]
    names = list(path.get("names") or [])
    if "id" in path:
        value, _ = tensor_ids.find(path["id"])
        for name in names:
            value = references.child(value, name)
    else:
        value = references.walk(path["reference"], names)
    return describe.variables(describe.members(value, args))


def scopes(args: dict) -> list[dict]:
    """Scopes of ours at a frame: none where the frame is not that of a boundary."""
    frame_id = args["frameId"]
    place = places.of_frame(frame_id)
    if place.call is None:
        return []
    has = {
        "Step": open_scan(place.thread) is not None,
        "Scan": bool(place.call.tensors) and place.call.boundary != "module",
        "Module": bool(tensor_ids.parameters(place.call)),
        "Run": True,
    }
    return [{"name": name, "id": f"{name}:{frame_id}"} for name, there in has.items() if there]


def entries(args: dict) -> list[dict]:
    """The variables of one of our scopes."""
    scope, _, frame_id = args["id"].partition(":")
    place = places.of_frame(int(frame_id))
    if place.call is None:
        raise ValueError("This scope belongs to a stop that is over.")
    plain = {"Step": _step_facts, "Scan": _scan_facts, "Run": _run_facts}.get(scope)
    facts = plain(place) if plain else []
    roles = {
        "Step": ("step",),
        "Scan": ("scan", "input", "output"),
        "Module": ("parameter",),
    }.get(scope, ())
    named = [n for n in tensor_ids.at(place, None) if n.role in roles]
    found = describe.variables([*facts, *((n.name, n.tensor) for n in named)])
    for entry, tensor in zip(found[len(facts) :], named):
        entry["tensorId"] = tensor.id
    return found


def _step_facts(place: places.Place) -> list[tuple[str, Fact]]:
    scan = open_scan(place.thread)
    if scan is None:
        return []
    return [
        ("t", Fact(str(scan.t), "int")),
        ("difference to the kernel", Fact(scan.difference_text(), "float")),
    ]


def _scan_facts(place: places.Place) -> list[tuple[str, object]]:
    """What was passed beside the tensors."""
    call = place.call
    tensors = {id(tensor) for tensor in call.tensors.values()}
    rest = [(n, v) for n, v in call.arguments.items() if id(v) not in tensors and n != "self"]
    return [(name, value) for name, value in rest if name not in call.tensors]


def _run_facts(place: places.Place) -> list[tuple[str, Fact]]:
    call = place.call
    facts = {"function": call.function, **call.counters(), "note": call.note}
    return [(n, Fact(str(v), type(v).__name__)) for n, v in facts.items() if v not in (None, "")]


def tensors(args: dict) -> dict:
    """`mamba/tensors`: what is at the selected frame, with summaries within the budget."""
    frame_id = args.get("frameId")
    place = places.of_frame(frame_id)
    named = _distinct(tensor_ids.at(place, frame_id))
    ms = args.get("budget")
    budget = Budget(ms=_TENSORS_MS if ms is None else float(ms))
    summaries = summarize_all([n.tensor for n in named], budget)
    site = site_of(place.call)
    refused = (s.get("note", "").endswith("expand for statistics") for s in summaries)
    return {
        "site": site,
        "stop": tensor_ids.stop_number(),
        "tensors": [
            {
                "id": n.id,
                "name": n.name,
                "role": n.role,
                "site": site,
                "axes": n.axes,
                "summary": None if left else summary,
            }
            for n, summary, left in zip(named, summaries, refused)
        ],
        "leftOut": budget.left_out,
    }


def _distinct(named: list) -> list:
    """A tensor may have several names; the views show the first."""
    seen: set[int] = set()
    return [n for n in named if not (id(n.tensor) in seen or seen.add(id(n.tensor)))]


def site_of(call: Call | None) -> dict:
    """The site of a place, with the step of the scan that is open there."""
    if call is None:
        return {"module": ""}
    scan = open_scan()
    step = {"t": scan.t} if scan is not None and scan.call is call else {}
    return {**call.site(), **step}


def gradients(_args: dict) -> dict:
    """`mamba/gradients`: of all parameters that have one, in the order of the model."""
    named = []
    for root in modules.roots():
        named += [(n, p.grad) for n, p in root.named_parameters() if p.grad is not None]
    found = statistics_of([grad for _, grad in named], Budget(ms=1000, elements=math.inf))
    entries = []
    for (name, _), (s, _) in zip(named, found):
        bad = s is None or s.count == 0 or s.nan + s.pos_inf + s.neg_inf > 0
        norm = None if bad else math.sqrt(s.squares + s.count * s.mean * s.mean)
        mean, absmax = (None, None) if bad else (s.mean, max(-s.min, s.max))
        entries.append({"name": name, "norm": norm, "mean": mean, "absmax": absmax})
    return {"gradients": entries}


_SCAN_NAMES = ["u", "delta", "A", "B", "C", "D", "z", "delta_bias"]


def sites(_args: dict) -> dict:
    """`mamba/sites`: what can be broken on, as far as the program has shown it."""
    paths = []
    for root in modules.roots():
        paths += [path for path, _ in attempt(lambda r=root: list(r.named_modules()), []) if path]
    layers = {modules.layer_of(path) for path in paths} - {None}
    return {
        "boundaries": ["selective_scan", "causal_conv1d"],
        "modules": paths,
        "layers": max(layers) + 1 if layers else 0,
        "names": {"selective_scan": _SCAN_NAMES, "causal_conv1d": ["x", "weight", "bias"]},
    }


METHODS = {
    function.__name__: function
    for function in (
        variables,
        rewrite,
        children,
        scopes,
        entries,
        tensors,
        gradients,
        sites,
    )
}
