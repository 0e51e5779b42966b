"""The very operation that makes the first NaN or Inf: the next step, looked at op by op."""

from __future__ import annotations

import math
import sys
import time

from . import channel, nonfinite, steps, stops, told
from .anomaly import beside
from .badvalues import TITLES, WORDS, Bad, bad_of, tensors_in
from .calls import Call
from .everyop import EveryOp, Look, arguments_of, is_view, name_of
from .extremes import extremes
from .guarded import torch
from .quiet import quiet
from .text import format_count, format_number
from .userframes import innermost

_COST = (
    "Every operation of the next step is looked at: about 0.1 ms each on a CPU, "
    "and on a GPU each one is waited for."
)
# Their results are memory as it was found.
_UNSET = ("empty", "new_empty", "resize", "set_")


class _State:
    steps = 1
    ops = 0
    seconds = 0.0
    anomaly: tuple[bool, bool] | None = None
    watch: EveryOp | None = None


def find_origin(args: dict) -> dict:
    """Arms the look at the next step, or the next `steps` ones as long as they are healthy."""
    _State.ops, _State.seconds = 0, 0.0
    _State.steps = max(1, int(args.get("steps") or 1))
    _keep_tracebacks()
    if _State.watch is None:
        _State.watch = EveryOp(_Origin())
    _State.watch.start()
    return {"text": _COST}


METHODS = {"findOrigin": find_origin}


def _keep_tracebacks() -> None:
    """Anomaly mode keeps where each forward was called; its own check stays as the person has it."""
    module = torch()
    if module is None:
        raise ValueError("PyTorch is not imported yet.")
    if _State.anomaly is None:
        check = getattr(module, "is_anomaly_check_nan_enabled", lambda: True)()
        _State.anomaly = (module.is_anomaly_enabled(), check)
        if not _State.anomaly[0]:
            module.autograd.set_detect_anomaly(True, check_nan=False)


def stop() -> None:
    """Ends the look and gives anomaly mode back as it was."""
    if _State.watch is not None:
        _State.watch.stop()
    if _State.anomaly is not None:
        enabled, check = _State.anomaly
        _State.anomaly = None
        torch().autograd.set_detect_anomaly(enabled, check_nan=check)


def _cost() -> str:
    return f"{format_count(_State.ops)} operations were looked at in {_State.seconds:.3g} s."


class _Origin(Look):
    """Stops at the first operation whose result has one."""

    def before(self, func, args: tuple, kwargs: dict) -> list[str] | None:
        """What of the inputs is bad already, where the operation may write over it."""
        if not func._schema.is_mutable:
            return None
        return _bad_names(_inputs(arguments_of(func, args, kwargs)))

    def after(self, func, args: tuple, kwargs: dict, result, state) -> None:
        """Looks at the result."""
        name = name_of(func)
        if is_view(func) or name.startswith(_UNSET):
            return
        outputs = tensors_in(result, "output")
        suspects = _bad_names(outputs)
        _State.ops += 1
        if suspects:
            given = arguments_of(func, args, kwargs)
            _tell(name, given, {n: outputs[n] for n in suspects}, state)

    def next_step(self) -> None:
        """Ends the look after the last of its steps."""
        _State.steps -= 1
        if _State.steps == 0:
            stop()
            channel.output(f"Scanpoint: no NaN or Inf was made in this step. {_cost()}")


def _inputs(given: dict[str, object]) -> dict[str, object]:
    return {n: t for key, value in given.items() for n, t in tensors_in(value, key).items()}


def _bad_names(tensors: dict) -> list[str]:
    start = time.perf_counter()
    looked = zip(tensors, extremes(list(tensors.values())))
    found = [name for name, e in looked if e is not None and not e.finite]
    _State.seconds += time.perf_counter() - start
    return found


def _tell(name: str, given: dict, outputs: dict, before: list[str] | None) -> None:
    inputs = _inputs(given)
    for which in nonfinite.active() or tuple(WORDS):
        if which == "inf" and any(_is_infinite(value) for value in given.values()):
            continue  # an infinity that is written down is meant
        bad = next((b for n, t in outputs.items() if (b := bad_of(n, t, which))), None)
        if bad:
            sources = _sources(inputs, which, before)
            _stop(name, inputs, outputs, bad, sources)
            return


def _is_infinite(value: object) -> bool:
    return isinstance(value, float) and math.isinf(value)


def _sources(inputs: dict, which: str, before: list[str] | None) -> list[str]:
    """What the inputs have of it; of those that are written to, as they were before."""
    if before is not None:
        return [f"{name} had it before" for name in before]
    found = (bad_of(name, tensor, which) for name, tensor in inputs.items())
    return [bad.text() for bad in found if bad]


def _stop(name: str, inputs: dict, outputs: dict, bad: Bad, sources: list[str]) -> None:
    stop()
    told.now(bad.filter)
    frame = innermost(sys._getframe())
    at = f" at {frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""
    what = WORDS[bad.filter]
    born = f"its inputs are free of {what}, so it was born here"
    clean = f"not born here: {'; '.join(sources)}" if sources else born
    text = f"{name}{at}: {bad.text()}; {clean}."
    details = [text, _inputs_text(inputs), beside(), _cost()]
    stops.stop(
        "exception", TITLES[bad.filter], " ".join(filter(None, details)),
        _call(name, inputs, outputs, frame), frame=frame,
    )  # fmt: skip


def _inputs_text(inputs: dict) -> str:
    looked = zip(inputs, extremes(list(inputs.values())))
    words = [f"{name} {format_number(e.absmax)}" for name, e in looked if e is not None]
    return f"Largest magnitudes of the inputs: {', '.join(words)}." if words else ""


def _call(name: str, inputs: dict, outputs: dict, frame) -> Call:
    call = Call("op", name)
    call.phase, call.frame = "exit", frame
    with quiet():
        call.inputs = call.arguments = {n: t.detach() for n, t in inputs.items()}
        call.tensors = {**call.inputs, **{n: t.detach() for n, t in outputs.items()}}
    call.step, call.rank = steps.current(), steps.rank()
    return call
