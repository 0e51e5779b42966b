"""The very operation: where the next step makes its first NaN or Inf."""

from __future__ import annotations

import math

import pytest
import torch
from scanpoint_agent import everyop, guarded, origin
from torch import nn
from torch.utils._python_dispatch import _get_current_dispatch_mode
from values_model import TEXT

pytest_plugins = ["agent_fixtures"]

FAULTS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.how = how
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        x = self.linear(x)
        return getattr(self, self.how)(x)

    def fine(self, x):
        return x.relu()

    def divide(self, x):
        zero = x - x
        return zero / zero  # the fault: 0 / 0

    def overflow(self, x):
        big = x.half() * 0 + 60000.0
        return (big + big).float()  # the fault: beyond float16

    def masked(self, x):
        scores = x.masked_fill(torch.ones_like(x, dtype=torch.bool), float("-inf"))
        return scores.softmax(-1)  # the fault: nothing is left

    def in_place(self, x):
        y = torch.zeros(3)
        return x + y.log_().mul_(0)

    def root(self, x):
        return (x * 0).sqrt()  # its gradient is 1 / 0

    def memory(self, x):
        return x + torch.empty(1000).fill_(1.0).mean()

def step(net):
    x = torch.ones(2, 3)
    loss = net(x).sum()
    loss.backward()
    return loss
"""


@pytest.fixture
def user(agent, packages):
    agent.start()
    yield packages("user_faults", FAULTS)
    agent.ask("setFilters", filters=[])
    origin.stop()
    assert _get_current_dispatch_mode() is None
    assert not torch.is_anomaly_enabled()


def found(agent, user, how: str, *filters: str) -> dict:
    """The stop of a step under the look at every operation, with its line of the program."""
    agent.ask("setFilters", filters=[{"filter": name} for name in filters])
    net = user.Net(how)
    armed = agent.ask("findOrigin")
    assert "looked at" in armed["text"]
    user.step(net)
    user.step(user.Net("fine"))
    stops = [stop for stop in agent.stops if stop["call"].boundary == "op"]
    assert len(stops) == 1
    return stops[0]


def line_of(user, text: str) -> str:
    number = 1 + next(i for i, line in enumerate(FAULTS.splitlines()) if text in line)
    return f"{user.__file__}:{number}"


def test_nan_born_in_an_operation(agent, user) -> None:
    stop = found(agent, user, "divide", "nan")
    assert stop["description"] == "NaN produced"
    text = stop["text"]
    assert text.startswith(f"div.Tensor at {line_of(user, '0 / 0')}: output has 6 NaN")
    assert "its inputs are free of NaN, so it was born here" in text
    assert "Largest magnitudes of the inputs: self 0, other 0." in text
    assert "operations were looked at in" in text
    call = stop["call"]
    assert set(call.tensors) == {"self", "other", "output"}
    assert call.frame.f_code.co_name == "divide"


def test_overflow_of_half_precision(agent, user) -> None:
    stop = found(agent, user, "overflow", "inf")
    assert stop["description"] == "Inf produced"
    assert stop["text"].startswith(f"add.Tensor at {line_of(user, 'beyond float16')}")
    assert "self 6e4, other 6e4" in stop["text"]


def test_an_infinity_that_is_written_down_is_meant(agent, user) -> None:
    stop = found(agent, user, "masked", "nan", "inf")
    assert stop["text"].startswith(f"_softmax.default at {line_of(user, 'nothing is left')}")
    assert "its inputs are free of NaN, so it was born here" in stop["text"]


def test_an_operation_in_place(agent, user) -> None:
    stop = found(agent, user, "in_place", "nan", "inf")
    assert stop["text"].startswith("log_.default at ")
    assert "so it was born here" in stop["text"]


def test_what_came_in_is_told(agent, user) -> None:
    agent.ask("setFilters", filters=[{"filter": "nan"}])
    net = user.Net("fine")
    with torch.no_grad():
        net.linear.weight[1, 1] = math.nan
    agent.ask("findOrigin")
    user.step(net)
    (stop,) = [stop for stop in agent.stops if stop["call"].boundary == "op"]
    assert "addmm.default at " in stop["text"]
    assert "not born here: mat2 has 1 NaN, first at [1, 1]" in stop["text"]


def test_in_the_backward_pass_the_forward_line_is_told(agent, user) -> None:
    stop = found(agent, user, "root", "nan", "inf")
    assert f"at {line_of(user, 'loss.backward()')}" in stop["text"]
    assert "It is inside SqrtBackward0" in stop["text"]
    assert f"whose forward was called at {line_of(user, 'its gradient is')}" in stop["text"]


def test_memory_as_it_was_found_is_no_finding(agent, user) -> None:
    for _ in range(3):
        block = torch.full((1000,), math.nan)
        del block
        agent.ask("findOrigin")
        user.step(user.Net("memory"))
        user.step(user.Net("memory"))
    assert agent.stops == []


def test_one_healthy_step_ends_the_look(agent, user) -> None:
    agent.ask("findOrigin")
    user.step(user.Net("fine"))
    user.step(user.Net("fine"))
    assert agent.stops == []
    assert "no NaN or Inf was made in this step" in agent.output()
    assert _get_current_dispatch_mode() is None


def test_several_steps_are_looked_at_until_one_is_not_healthy(agent, user) -> None:
    agent.ask("findOrigin", steps=5)
    for how in ("fine", "fine", "divide"):
        user.step(user.Net(how))
    assert len(agent.stops) == 1
    assert line_of(user, "0 / 0") in agent.stops[0]["text"]


def test_an_error_of_the_program_stays_its_own(agent, user) -> None:
    agent.ask("findOrigin")
    net = user.Net("fine")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            net(torch.ones(2, 4))
    assert "is switched off" not in agent.output()


def test_an_error_of_ours_ends_the_look(agent, user, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_):
        raise RuntimeError("ours")

    monkeypatch.setattr(origin, "_bad_names", fail)
    monkeypatch.setattr(guarded, "_told", set())
    agent.ask("findOrigin")
    assert torch.isfinite(user.step(user.Net("fine")))
    user.step(user.Net("fine"))
    assert "RuntimeError: ours" in agent.output()
    assert _get_current_dispatch_mode() is None


def test_numbers_are_the_same_under_the_look(agent, packages) -> None:
    agent.start()
    user = packages("user_train", TEXT)
    plain = user.make()
    user.train(plain, 2)
    agent.ask("findOrigin")
    watched = user.make()
    user.train(watched, 2)
    assert agent.stops == []
    for a, b in zip(plain.parameters(), watched.parameters()):
        assert torch.equal(a, b)
    origin.stop()


def test_only_the_outermost_module_begins_a_step() -> None:
    seen = []

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.ReLU()

        def forward(self, x):
            return self.inner(x)

    class Counting(everyop.Look):
        def next_step(self) -> None:
            seen.append(1)

    watch = everyop.EveryOp(Counting())
    watch.start()
    outer = Outer()
    for _ in range(3):
        outer(torch.ones(2))
    watch.stop()
    assert len(seen) == 2
    assert _get_current_dispatch_mode() is None
