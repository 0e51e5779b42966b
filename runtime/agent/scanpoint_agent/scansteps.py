"""Breakpoints on the time steps of a scan: the recurrence is recomputed before the scan runs."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from .calls import Call
from .quiet import quiet
from .recurrence import Recurrence
from .scaninputs import inputs_of


def steps_of(call: Call) -> Iterator[Call]:
    """The call at each time step, with that step's tensors. Raises ValueError."""
    with quiet():
        steps = Recurrence(inputs_of(call))
    for t in range(steps.length):
        with quiet():
            steps.seek(t)
            tensors = steps.tensors()
        step = copy.copy(call)
        step.t, step.tensors = t, {**call.tensors, **tensors}
        yield step
