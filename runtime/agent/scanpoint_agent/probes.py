"""The breakpoints in force: one class per kind. A request replaces them all."""

from __future__ import annotations

import difflib
from typing import Callable, ClassVar

from . import calls, channel, comparisons, conditions, globs, gradients, modules, stops, wrap
from .calls import Call


class Probe:
    """What all kinds share: the condition, the hit count, the log message, and being told of."""

    # What a stop says of the place beside the site.
    where = ""

    def __init__(self, spec: dict):
        self.id = spec["id"]
        self.target = spec["target"]
        self.condition = _optional(conditions.Expression, spec.get("condition"))
        self.hit_condition = _optional(conditions.hit_condition, spec.get("hitCondition"))
        self.log = _optional(conditions.LogMessage, spec.get("logMessage"))
        self.hits = 0
        self.armed = True
        self.phase = self.target.get("phase", "entry")
        self.backward = self.target.get("pass") == "backward"

    def status(self) -> dict:
        """How the breakpoint stands: {id, verified, message?}."""
        return {"id": self.id, "verified": True}

    def among(self, names: list[str], kind: str) -> dict:
        """How a breakpoint on names stands, once a model has been called that has some."""
        glob = self.target["glob"]
        if not names:
            message = f"Looked for once a model is called that has a {kind} {glob}."
            return {"id": self.id, "verified": False, "reason": "pending", "message": message}
        matches = globs.matcher(glob)
        if any(matches(name) for name in names):
            return {"id": self.id, "verified": True}
        close = difflib.get_close_matches(glob, names, 1)
        hint = f'; did you mean "{close[0]}"?' if close else "."
        message = f'No {kind} of the model matches "{glob}"{hint}'
        return {"id": self.id, "verified": False, "message": message}

    def hit(self, call: Call) -> bool:
        """Whether to stop at a call; counts it, and writes the log message where there is one."""
        if not self.armed:
            return False
        names = call.names()
        scope = getattr(call.original, "__globals__", None)
        try:
            if self.condition and not self.condition.truth(names, scope):
                return False
        except conditions.ConditionError as error:
            self.disarm(f"{error} This is {call.note}." if call.note else str(error))
            return False
        self.hits += 1
        if self.hit_condition and not self.hit_condition(self.hits):
            return False
        if self.log is None:
            return True
        channel.output(self.log.text(names, scope), "stdout")
        return False

    def disarm(self, message: str) -> None:
        """Takes the breakpoint out of force and says why."""
        self.armed = False
        channel.send({"probe": {"id": self.id, "verified": False, "message": message}})
        channel.output(f"Scanpoint: a breakpoint is switched off: {message}")

    def arm(self) -> None:
        """Puts the breakpoint in force."""

    def release(self) -> None:
        """Undoes `arm`."""
        self.armed = False


def _optional(make: Callable, text: str | None):
    return make(text) if text and text.strip() else None


class BoundaryProbe(Probe):
    """Entry or exit of a scan or convolution."""

    def __init__(self, spec: dict):
        super().__init__(spec)
        self.boundary = self.target["boundary"]

    def matches(self, call: Call) -> bool:
        """Whether a call is one of this breakpoint's, whatever its condition says."""
        return not self.backward and call.boundary == self.boundary and call.phase == self.phase

    def status(self) -> dict:
        if any(guard.target.boundary == self.boundary for guard in wrap.guards):
            return super().status()
        message = (
            f"No function for {self.boundary} is loaded yet; this takes effect when one is. "
            "Name yours in scanFunctions if it is not found."
        )
        return {"id": self.id, "verified": False, "reason": "pending", "message": message}


class StepProbe(BoundaryProbe):
    """The time steps of a scan. It stops before the scan whose steps hit, and says at which t."""

    def matches(self, call: Call) -> bool:
        return call.boundary == self.boundary and call.phase == "entry"

    def hit(self, call: Call) -> bool:
        from . import scansteps

        if not self.armed:
            return False
        try:
            for step in scansteps.steps_of(call):
                if super().hit(step):
                    self.where = f"; step in, and continue to t={step.t}"
                    return True
        except ValueError as error:
            self.disarm(str(error))
        return False


class BoundaryGradientProbe(BoundaryProbe):
    """The backward pass of a boundary: at the gradient of its outputs, or of all its inputs."""

    def watch(self, call: Call) -> None:
        """Registers for the gradients of one call, at its exit."""
        if call.boundary == self.boundary and call.phase == "exit" and self.armed:
            gradients.watch_call(call, self.phase, lambda found: told(found, [self]))


class ModuleProbe(Probe):
    """Entry or exit of modules whose path matches a glob; with `pass`, of their backward pass."""

    def __init__(self, spec: dict):
        super().__init__(spec)
        self.path_matches = globs.matcher(self.target["glob"])
        if self.phase not in ("entry", "exit"):
            raise conditions.ConditionError("A module has :entry and :exit only.")

    def arm(self) -> None:
        modules.breakpoints.append(self)

    def release(self) -> None:
        super().release()
        modules.breakpoints.discard(self)

    def status(self) -> dict:
        return self.among(modules.paths(), "module")

    def wants(self, path: str, phase: str) -> bool:
        """Whether a call of the module at `path` is this breakpoint's."""
        return phase == ("exit" if self.backward else self.phase) and self.path_matches(path)

    def __call__(self, call: Call) -> None:
        if self.backward:
            gradients.watch_call(call, self.phase, lambda found: told(found, [self]))
        else:
            told(call, [self])


class GradientProbe(Probe):
    """The gradient of parameters whose name matches a glob, once backward has computed it."""

    def __init__(self, spec: dict):
        super().__init__(spec)
        self.watcher = gradients.Parameters(globs.matcher(self.target["glob"]), self._found)

    def _found(self, call: Call) -> None:
        told(call, [self])

    def status(self) -> dict:
        return self.among(modules.parameters(), "parameter")

    def arm(self) -> None:
        self.watcher.arm()

    def release(self) -> None:
        super().release()
        self.watcher.release()


class _InForce:
    probes: ClassVar[list[Probe]] = []
    entries: ClassVar[list[BoundaryProbe]] = []
    backward: ClassVar[list[BoundaryGradientProbe]] = []
    # What was last told of each breakpoint: (verified, message).
    status: ClassVar[dict[object, tuple]] = {}


def on_call(call: Call) -> None:
    """Stops at a boundary call if a breakpoint of its says so."""
    for probe in _InForce.backward:
        probe.watch(call)
    told(call, [probe for probe in _InForce.entries if probe.matches(call)])


on_call.__name__ = "the breakpoints"


def told(call: Call, candidates: list) -> None:
    """Stops once for all of the candidates that hit; the stop names them."""
    hits = [probe for probe in candidates if probe.hit(call)]
    if not hits:
        return
    stops.stop(
        "function breakpoint",
        title(call),
        reason(call, hits[0]),
        call,
        probe_ids=[p.id for p in hits],
    )


def title(call: Call) -> str:
    """What is reached, e.g. `Paused at selective_scan entry`."""
    if call.boundary == "gradient":
        return "Paused at gradient"
    name = call.module or "the model" if call.boundary == "module" else call.boundary
    return f"Paused at {'gradient of ' if call.in_backward else ''}{name} {call.phase}"


def reason(call: Call, probe: Probe) -> str:
    """Where and why, e.g. `layers.3.mixer, backward: delta.max() = 0.42 > 0.1 (hit 3)`."""
    place = call.function if call.boundary == "gradient" else call.module
    words = ", ".join(word for word in (place, call.direction) if word)
    if probe.condition:
        scope = getattr(call.original, "__globals__", None)
        told = comparisons.numbers(probe.condition.text, call.names(), scope)
        words = f"{words}: {told}" if words else told
    note = f" ({call.note})" if call.note else ""
    return f"{words} (hit {probe.hits}){probe.where}{note}".strip()


_KINDS = {"module": ModuleProbe, "gradient": GradientProbe}


def make(spec: dict) -> Probe:
    """The breakpoint that a request describes. Raises ConditionError."""
    target = spec["target"]
    if target["kind"] == "boundary":
        plain = StepProbe if target["phase"] == "step" else BoundaryProbe
        return (BoundaryGradientProbe if target.get("pass") == "backward" else plain)(spec)
    return _KINDS[target["kind"]](spec)


def set_probes(args: dict) -> list[dict]:
    """Puts these breakpoints in force, and no others; says how each stands."""
    from . import imports

    clear()
    imports.scan_loaded()
    answers = []
    for spec in args.get("probes", []):
        try:
            probe = make(spec)
        except conditions.ConditionError as error:
            answers.append({"id": spec["id"], "verified": False, "message": str(error)})
            continue
        _InForce.probes.append(probe)
        probe.arm()
        answers.append(probe.status())
    _InForce.backward = [p for p in _InForce.probes if isinstance(p, BoundaryGradientProbe)]
    plain = [p for p in _InForce.probes if isinstance(p, BoundaryProbe)]
    _InForce.entries = [p for p in plain if p not in _InForce.backward]
    if plain:
        on_call.boundaries = {probe.boundary for probe in plain}
        calls.handlers.append(on_call)
    _InForce.status = {answer["id"]: _standing(answer) for answer in answers}
    return answers


def clear() -> None:
    """Takes all breakpoints out of force."""
    calls.handlers.discard(on_call)
    for probe in _InForce.probes:
        probe.release()
    _InForce.probes, _InForce.entries, _InForce.backward = [], [], []


def recheck() -> None:
    """To be told when a function is found or a model is called: breakpoints may stand otherwise now."""
    for probe in _InForce.probes:
        status = probe.status()
        if probe.armed and _standing(status) != _InForce.status.get(probe.id):
            _InForce.status[probe.id] = _standing(status)
            channel.send({"probe": {"message": "", **status}})


def _standing(status: dict) -> tuple:
    return status["verified"], status.get("message")


def found(_boundary: str) -> None:
    """To be told of each function that is found."""
    recheck()


METHODS = {"setProbes": set_probes}
