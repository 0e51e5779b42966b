"""The filters NaN, Inf, exploding and vanishing: who looks where, and what is told of a finding.

At the entry and exit of a boundary, and at the exit of a module, all tensors are looked at in one
synchronisation. The first NaN (or Inf) of a step stops; what follows from it in that step doesn't.
"""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from . import calls, gradient_health, modules, steps, stops, told
from .anomaly import beside
from .axes import axes_of
from .badvalues import TITLES, WORDS, Bad, bad_of, tensors_in
from .calls import Call
from .extremes import Extremes, extremes
from .made_by import made_by
from .scan_origin import find as find_in_scan
from .sitetext import site_text
from .text import format_number

# How many sites before a finding are told.
RUN_UP = 5


class _State:
    active: tuple[str, ...] = ()
    run_up: ClassVar[deque] = deque(maxlen=RUN_UP)


def set_filters(args: dict) -> dict:
    """Replaces the filters: [{filter, threshold?}]. Raises ValueError for an unknown one."""
    filters = {f["filter"]: f.get("threshold") for f in args.get("filters") or []}
    unknown = set(filters) - set(TITLES)
    if unknown:
        raise ValueError(f"There is no filter {', '.join(sorted(unknown))}.")
    _State.active = tuple(name for name in WORDS if name in filters)
    told.clear()
    _State.run_up.clear()
    calls.observers.discard(on_call)
    modules.observers.discard(on_module)
    if _State.active:
        calls.observers.append(on_call)
        modules.observers.append(on_module)
    gradient_health.watch(filters)
    return {}


METHODS = {"setFilters": set_filters}


def active() -> tuple[str, ...]:
    """Which of "nan" and "inf" are looked for."""
    return _State.active


def on_call(call: Call) -> None:
    """Looks at a boundary: what goes in at its entry, what comes out at its exit."""
    if call.phase == "entry":
        found = _look(call.inputs)
        if found:
            _tell_passed_on(call, call.inputs, found)
        return
    outputs = {n: t for n, t in call.tensors.items() if call.inputs.get(n) is not t}
    _look_at_results(call, call.inputs, outputs)


def on_module(path: str, module, inputs, outputs) -> None:
    """Looks at what a module gives."""
    results = tensors_in(outputs, "output")
    if results:
        given = tensors_in(inputs, "input")
        _look_at_results(_module_call(path, module, given, results), given, results)


def _module_call(path: str, module, inputs: dict, outputs: dict) -> Call:
    call = Call("module", f"{type(module).__name__}.forward")
    forward = getattr(type(module).forward, "__wrapped__", type(module).forward)
    call.original = forward if hasattr(forward, "__code__") else None
    call.module, call.layer, call.phase = path, modules.layer_of(path), "exit"
    call.instance, call.inputs = module, inputs
    call.tensors = {**inputs, **outputs}
    call.step, call.rank = steps.current(), steps.rank()
    return call


def _look(tensors: dict[str, object]) -> dict[str, Extremes]:
    """The tensors that are not finite."""
    looked = zip(tensors, extremes(list(tensors.values())))
    return {name: e for name, e in looked if e is not None and not e.finite}


def _look_at_results(call: Call, inputs: dict, outputs: dict) -> None:
    looked = dict(zip(outputs, extremes(list(outputs.values()))))
    suspects = [name for name, e in looked.items() if e is not None and not e.finite]
    if suspects:
        _tell_results(call, inputs, {name: outputs[name] for name in suspects})
    known = [e for e in looked.values() if e is not None]
    if known:
        _State.run_up.append((site_text(call), known[0].absmax))


def _first(call: Call, tensors: dict, which: str) -> Bad | None:
    found = (bad_of(n, t, which, axes_of(call, n, t)) for n, t in tensors.items())
    return next((bad for bad in found if bad), None)


def _tell_passed_on(call: Call, inputs: dict, suspects: dict) -> None:
    for which in _State.active:
        candidates = {name: inputs[name] for name in suspects}
        bad = None if told.already(which) else _first(call, candidates, which)
        if bad:
            came = f"It came in, {made_by(inputs[bad.name])} before this boundary."
            _stop(call, bad, "passed on", came)
            return


def _tell_results(call: Call, inputs: dict, outputs: dict) -> None:
    if told.something(around=call.module) and call.boundary == "module":
        return  # what the module gives follows from what was told inside of it
    for which in _State.active:
        bad = None if told.already(which) else _first(call, outputs, which)
        if bad is None:
            continue
        came = _came_from(call, inputs, which)
        if came is None:
            _stop(call, bad, *_born(call, which))
        elif not told.something():
            _stop(call, bad, *came)
        return


def _came_from(call: Call, inputs: dict, which: str) -> tuple[str, str] | None:
    """Short and as a sentence: which input or parameter is not finite; a NaN may come from Inf."""
    for kind in (which, *(other for other in WORDS if other != which)):
        source = _first(call, inputs, kind)
        if source:
            made = made_by(inputs[source.name])
            return f"from {source.name}", f"It comes from the input: {source.text()}, {made}."
        parameter = _first(call, _parameters(call), kind)
        if parameter:
            return f"from {parameter.name}", f"It comes from the parameter: {parameter.text()}."
    return None


def _parameters(call: Call) -> dict[str, object]:
    inner = getattr(call.instance, "__dict__", {}) if call.boundary == "module" else {}
    own = {**inner.get("_parameters", {}), **inner.get("_buffers", {})}
    return {name: tensor for name, tensor in own.items() if tensor is not None}


def _born(call: Call, which: str) -> tuple[str, str]:
    """Short and as a sentence: where it was born."""
    sentence = "It was born here: all inputs are finite."
    origin = find_in_scan(call, which) if call.boundary == "selective_scan" else None
    if origin is None:
        return "born here", sentence
    inside = f"Inside the scan it begins at {origin.place}: {origin.text}."
    return f"born here in {origin.quantity} at {origin.place}", f"{sentence} {inside}"


def _stop(call: Call, bad: Bad, short: str, sentence: str) -> None:
    told.now(bad.filter, call.module)
    text = f"{site_text(call)}: {bad.text()}, {short}"
    step = "" if call.step is None else f"This is step {call.step}."
    words = (f"{text}.", sentence, step, _run_up(), beside())
    details = " ".join(word for word in words if word)
    stops.stop("exception", TITLES[bad.filter], details, call)


def _run_up() -> str:
    """The largest magnitude that each of the sites before gave, the nearest last."""
    words = [f"{site} {format_number(absmax)}" for site, absmax in _State.run_up]
    return f"Largest magnitudes before it: {', '.join(words)}." if words else ""
