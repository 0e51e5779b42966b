"""The scan over t that a stop at a scan opens: step, step back, run to a step or a condition."""

from __future__ import annotations

import contextlib

from . import guarded, stops
from .axes import step_axes
from .calls import Call
from .conditions import Expression
from .quiet import quiet
from .recurrence import Recurrence
from .scaninputs import as_channels, inputs_of
from .text import format_number


class OpenScan:
    """A scan that is gone through; its numbers are recomputed, the program's stay as they are."""

    def __init__(self, thread: int | None, call: Call):
        self.thread, self.call = thread, call
        with quiet():
            inputs = inputs_of(call)
            if inputs.length == 0 or inputs.u.is_meta:
                raise ValueError("This scan has no step to open.")
            self.steps = Recurrence(inputs)
            self._kernel = _kernel(call, inputs)
        self.seek(0)

    @property
    def t(self) -> int:
        """The step that it stands at."""
        return self.steps.t

    def seek(self, t: int) -> None:
        """Goes to a step. Raises ValueError."""
        with quiet():
            self.steps.seek(t)

    def tensors(self) -> dict[str, object]:
        """The tensors of this step by the paper's names."""
        with quiet():
            return self.steps.tensors()

    def run(self, condition: str | None, by: int) -> bool:
        """Goes on until the condition holds or the scan ends. Raises ConditionError."""
        expression = Expression(condition) if condition else None
        last = self.steps.length - 1 if by > 0 else 0
        while self.t != last:
            self.seek(max(0, min(self.t + by, self.steps.length - 1)))
            if expression and self._holds(expression):
                return True
        return False

    def _holds(self, expression: Expression) -> bool:
        names = {**self.call.names(), **self.tensors(), "t": self.t}
        with quiet():
            return expression.truth(names)

    def difference(self) -> tuple[float, float] | None:
        """The largest |difference| of this step's y to the kernel's, and the largest |y|."""
        if self._kernel is None:
            return None
        torch = guarded.torch()
        with quiet():
            own = self.steps.tensors()["y_t"]
            apart = (own - self._kernel[..., self.t].to(own.dtype)).abs().max()
            difference, scale = torch.stack((apart, own.abs().max())).tolist()
        return difference, scale

    def difference_text(self) -> str:
        """The same for a person."""
        found = self.difference()
        if found is None:
            return "not known: the kernel gave no y"
        return f"{format_number(found[0])} of {format_number(found[1])}"


def _kernel(call: Call, inputs):
    """What the program's own scan gives, as (B, D, L): at the entry it is run for it."""
    y = call.tensors.get("y")
    if y is None and call.original is not None:
        with contextlib.suppress(Exception):  # it may need what a call outside of the model lacks
            result = call.original(**call.arguments)
            y = result[0] if isinstance(result, (tuple, list)) else result
    if not guarded.is_tensor(y):
        return None
    y = as_channels(y.detach(), inputs.layout)
    return y if y.shape == inputs.u.shape else None


class _State:
    open: OpenScan | None = None


def current(thread: int | None = None) -> OpenScan | None:
    """The scan that is open; None when its stop is over."""
    scan = _State.open
    if scan is not None and stops.current(scan.thread) is not scan.call:
        scan = _State.open = None
    return scan if scan is not None and thread in (None, scan.thread) else None


def _needed() -> OpenScan:
    scan = current()
    if scan is None:
        raise ValueError("No scan is open; step into one at a stop at its entry.")
    return scan


def _answer(scan: OpenScan, stopped: bool = False) -> dict:
    text = f"t={scan.t}, difference to the kernel {scan.difference_text()}"
    return {"length": scan.steps.length, "t": scan.t, "stopped": stopped, "text": text}


def open_scan(args: dict) -> dict:
    """Opens the scan that a thread is stopped at, at step 0. Raises ValueError."""
    thread = args.get("threadId")
    call = stops.current(thread)
    if call is None:
        raise ValueError("This thread is not stopped at a boundary.")
    _State.open = OpenScan(thread, call)
    return _answer(_State.open)


def seek_scan(args: dict) -> dict:
    """Goes to step `t`."""
    scan = _needed()
    scan.seek(int(args["t"]))
    return _answer(scan)


def step_scan(args: dict) -> dict:
    """Goes `by` steps on, or back; at the ends it stays where it is."""
    scan = _needed()
    before = scan.t
    scan.seek(max(0, min(before + int(args.get("by") or 1), scan.steps.length - 1)))
    return _answer(scan, stopped=scan.t != before)


def run_scan(args: dict) -> dict:
    """Runs on, or back, until `condition` holds."""
    scan = _needed()
    by = -1 if int(args.get("by") or 1) < 0 else 1
    stopped = scan.run(args.get("condition"), by)
    return _answer(scan, stopped)


def close_scan(_args: dict) -> dict:
    """Closes it; the stop stays."""
    _State.open = None
    return {}


def variables(scan: OpenScan) -> list[tuple[str, object, list[str]]]:
    """The tensors of the step with their axes."""
    return [(name, value, step_axes(name, value)) for name, value in scan.tensors().items()]


METHODS = {
    "openScan": open_scan,
    "seekScan": seek_scan,
    "stepScan": step_scan,
    "runScan": run_scan,
    "closeScan": close_scan,
}
