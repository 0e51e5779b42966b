"""Breakpoints of all kinds, with recorded stops in place of suspending."""

from __future__ import annotations

import copy
import io

import pytest
import torch
from harness import boundary
from scanpoint_agent import calls, imports, modules
from torch import nn

pytest_plugins = ["agent_fixtures"]

TEXT = """
import torch
from torch import nn

def selective_scan(u, delta, A):
    return u * torch.exp(delta * A)

class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.A_log = nn.Parameter(torch.zeros(4))
        self.D = nn.Parameter(torch.ones(4))

    def forward(self, x, scale=1.0):
        return selective_scan(x * self.D, x.abs(), -self.A_log.exp()) * scale

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.mixer = Mixer()

    def forward(self, x):
        return x + self.mixer(self.norm(x), scale=2.0)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""


@pytest.fixture
def user(agent, packages):
    agent.start()
    return packages("user_model", TEXT)


@pytest.fixture
def model(user):
    torch.manual_seed(0)
    return user.Model()


X = torch.linspace(-1, 1, 8).view(2, 4)


def places(agent) -> list[str]:
    return [stop["call"].module for stop in agent.stops]


def test_entry_and_exit(agent, model):
    answers = agent.probes(boundary(), boundary(phase="exit", condition="layer == 1"))
    assert answers == [{"id": 1, "verified": True}, {"id": 2, "verified": True}]
    model(X)
    assert [(s["site"]["module"], s["probes"]) for s in agent.stops] == [
        ("layers.0.mixer", [1]),
        ("layers.1.mixer", [1]),
        ("layers.1.mixer", [2]),
        ("layers.2.mixer", [1]),
    ]
    entry, leave = agent.stops[1]["variables"], agent.stops[2]["variables"]
    assert set(entry) >= {"u", "delta", "A", "layer", "direction", "step", "rank"}
    assert "y" not in entry
    assert torch.equal(leave["y"], entry["u"] * torch.exp(entry["delta"] * entry["A"]))
    assert agent.stops[2]["description"] == "Paused at selective_scan exit"
    assert agent.stops[2]["text"] == "layers.1.mixer: layer == 1 (hit 1)"


def test_two_breakpoints_at_one_place_stop_once(agent, model):
    agent.probes(
        boundary(condition="layer == 0"), boundary(condition="u.numel() == 8 and layer < 1")
    )
    model(X)
    assert [stop["probes"] for stop in agent.stops] == [[1, 2]]


def test_hits_count_where_the_condition_holds(agent, model):
    agent.probes(boundary(condition="layer != 0", hitCondition="3"))
    model(X)
    model(X)
    assert places(agent) == ["layers.1.mixer"]
    assert agent.stops[0]["call"].occurrence == 2


def test_a_log_message_does_not_stop(agent, model):
    agent.probes(boundary(logMessage="{module} {u.absmax() > 0}"))
    model(X)
    assert agent.stops == []
    assert agent.output() == "".join(f"layers.{i}.mixer True\n" for i in range(3))


def test_a_wrong_condition_is_unverified_with_the_reason(agent, model):
    answers = agent.probes(boundary(condition="u >"), boundary())
    assert answers[0]["verified"] is False
    assert "not a Python expression" in answers[0]["message"]
    assert answers[1] == {"id": 2, "verified": True}


def test_a_condition_that_fails_is_switched_off_and_told_once(agent, model):
    expected = model(X)
    agent.probes(boundary(condition="u > 0"), boundary("selective_scan", "exit", condition="q > 0"))
    assert torch.equal(model(X), expected)
    told = [body["probe"] for body in agent.sent if "probe" in body]
    assert [(t["id"], t["verified"]) for t in told] == [(1, False), (2, False)]
    assert "write (u > 0).any()" in told[0]["message"]
    assert "'q' is not defined" in told[1]["message"]
    assert agent.stops == []


def test_setting_replaces_and_nothing_set_looks_at_nothing(agent, model):
    agent.probes(boundary())
    agent.probes(boundary(phase="exit"))
    model(X)
    assert {stop["call"].phase for stop in agent.stops} == {"exit"}
    agent.probes()
    assert not any(calls.live.values())
    assert not modules.breakpoints


def test_a_breakpoint_waits_for_its_function(agent, packages, monkeypatch):
    monkeypatch.setattr(imports, "scan_loaded", lambda: None)  # as if nothing were loaded
    agent.start()
    answer = agent.probes(boundary("causal_conv1d"))[0]
    assert answer["verified"] is False
    assert "takes effect when one is" in answer["message"]
    packages("causal_conv1d")
    told = [body["probe"] for body in agent.sent if "probe" in body]
    assert [(t["id"], t["verified"]) for t in told] == [(1, True)]


def scan_arguments() -> list[torch.Tensor]:
    """u, delta, A, B, C of two sequences of five steps, three channels and two states."""
    torch.manual_seed(0)
    u, delta = torch.randn(2, 2, 3, 5)
    return [u, delta.abs(), -torch.rand(3, 2), *torch.randn(2, 2, 2, 5)]


def test_steps_of_a_scan_stop_before_it_and_say_at_which(agent, packages):
    agent.start()
    interface = packages("mamba_ssm.ops.selective_scan_interface")
    answers = agent.probes(
        boundary(phase="step", condition="t > 1 and h.absmax() > 0"),
        boundary(phase="step", logMessage="{t}", condition="t % 2 == 0"),
    )
    assert [answer["verified"] for answer in answers] == [True, True]
    interface.selective_scan_fn(*scan_arguments())
    assert [stop["probes"] for stop in agent.stops] == [[1]]
    assert agent.stops[0]["description"] == "Paused at selective_scan entry"
    assert agent.stops[0]["text"].endswith("; step in, and continue to t=2")
    assert agent.output() == "0\n2\n4\n"


def test_a_call_without_steps_switches_a_step_breakpoint_off(agent, model):
    agent.probes(boundary(phase="step"))
    model(X)  # its scan has neither B nor C
    told = [body["probe"] for body in agent.sent if "probe" in body]
    assert "can't be opened" in told[0]["message"]
    assert agent.stops == []


def module_probe(glob: str, phase: str = "entry", **more) -> dict:
    target = {"kind": "module", "glob": glob, "phase": phase}
    if more.pop("grad", False):
        target["pass"] = "backward"
    return {"target": target, **more}


def test_module_breakpoints(agent, model):
    expected = model(X)
    agent.probes(
        module_probe("layers.*.norm", "exit", condition="layer > 0"), module_probe("layers.0.mixer")
    )
    assert torch.equal(model(X), expected)
    assert places(agent) == ["layers.0.mixer", "layers.1.norm", "layers.2.norm"]
    entry, leave = agent.stops[0]["variables"], agent.stops[1]["variables"]
    assert entry["scale"] == 2.0
    assert entry["x"].shape == (2, 4)
    assert isinstance(leave["self"], nn.LayerNorm)
    assert leave["output"].shape == (2, 4)
    assert agent.stops[0]["site"] == {"module": "layers.0.mixer"}


def test_hooks_exist_only_while_a_module_breakpoint_does(agent, model):
    from torch.nn.modules import module as hooks

    agent.probes(module_probe("**"))
    assert hooks._global_forward_hooks
    agent.probes()
    assert not hooks._global_forward_hooks
    assert not hooks._global_forward_pre_hooks
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def gradient_probe(glob: str, **more) -> dict:
    return {"target": {"kind": "gradient", "glob": glob}, **more}


@pytest.mark.parametrize("called_before", [True, False])
def test_gradients_of_parameters(agent, model, called_before):
    if called_before:
        agent.probes(boundary(condition="False"))
        model(X)
    agent.probes(gradient_probe("layers.*.mixer.D", condition="layer != 1 and grad.norm() >= 0"))
    model(X).square().sum().backward()
    assert places(agent) == ["layers.2.mixer", "layers.0.mixer"]
    for stop, layer in zip(agent.stops, (2, 0)):
        parameter = model.layers[layer].mixer.D
        assert torch.equal(stop["variables"]["grad"], parameter.grad)
        assert stop["variables"]["param"] is parameter
    agent.probes()
    agent.stops.clear()
    model(X).sum().backward()
    assert agent.stops == []


def test_gradients_of_a_boundary(agent, model):
    agent.probes(boundary(grad=True), boundary(phase="exit", grad=True, condition="layer == 2"))
    kept = {}

    def keep(_module, _args, out) -> None:
        out.register_hook(lambda gradient: kept.update(gradient=gradient))

    model.layers[2].mixer.register_forward_hook(keep)
    model(X).square().sum().backward()
    assert [(s["call"].module, s["call"].phase) for s in agent.stops] == [
        ("layers.2.mixer", "entry"),
        ("layers.2.mixer", "exit"),
        ("layers.1.mixer", "entry"),
        ("layers.0.mixer", "entry"),
    ]
    assert torch.equal(agent.stops[0]["variables"]["grad_y"], 2 * kept["gradient"])
    assert {"grad_u", "grad_A"} <= set(agent.stops[1]["variables"])
    assert agent.stops[1]["site"]["pass"] == "backward"


def test_gradients_of_a_module(agent, model):
    agent.probes(module_probe("layers.1", grad=True))
    model(X).sum().backward()
    assert places(agent) == ["layers.1"]
    assert agent.stops[0]["variables"]["grad"].shape == (2, 4)


def test_steps_of_the_optimizer_are_counted(agent, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    agent.probes(boundary(condition="layer == 0"))
    for _ in range(3):
        model(X).sum().backward()
        optimizer.step()
    assert [stop["call"].step for stop in agent.stops] == [0, 1, 2]


def test_the_rank_is_that_of_the_launcher(agent, model, monkeypatch):
    monkeypatch.setenv("RANK", "3")
    agent.probes(boundary(condition="rank == 3 and layer == 0"))
    model(X)
    assert [stop["call"].rank for stop in agent.stops] == [3]


def test_paths_go_by_the_outermost_module_and_below_wrappers(agent, user, model):
    seen = agent.observe()
    model.layers[1](X)
    model(X)

    class DataParallel(nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def forward(self, x):
            return self.module(x)

    DataParallel(user.Model())(X)
    paths = [call.module for call in seen if call.phase == "entry"]
    inside = [f"layers.{i}.mixer" for i in range(3)]
    assert paths == ["mixer", *inside, *inside]
    assert [call.layer for call in seen if call.phase == "entry"] == [None, 0, 1, 2, 0, 1, 2]


def test_gradient_checkpointing_calls_a_layer_again_in_the_same_step(agent, model):
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = model.layers

        def forward(self, x):
            for layer in self.layers:
                x = checkpoint(layer, x, use_reentrant=False)
            return x

    seen = agent.observe()
    checkpointed = Checkpointed()
    for _ in range(2):
        checkpointed(X.clone().requires_grad_()).sum().backward()
    entries = [(call.layer, call.step) for call in seen if call.phase == "entry"]
    order = (0, 1, 2, 2, 1, 0)
    assert entries == [(layer, step) for step in (0, 1) for layer in order]


def test_a_watched_model_is_saved_and_copied_without_us(agent, model, recwarn):
    agent.probes(gradient_probe("**"), module_probe("**"), boundary(grad=True))
    model(X).sum().backward()
    file = io.BytesIO()
    torch.save(model, file)
    assert b"scanpoint" not in file.getvalue()
    copied = copy.deepcopy(model)
    assert not any(p._backward_hooks for p in copied.parameters())
    assert [str(w.message) for w in recwarn] == []


def test_modules_and_parameters_are_verified_once_a_model_is_called(agent, model):
    answers = agent.probes(
        module_probe("layers.1.mixer"),
        module_probe("layers.9.mixer"),
        {"target": {"kind": "gradient", "glob": "layers.0.mixer.A_lgo"}},
    )
    assert {answer.get("reason") for answer in answers} <= {"pending", None}
    model(X)
    told = {}
    for body in agent.sent:
        if "probe" in body:
            told[body["probe"]["id"]] = body["probe"]
    standing = {**{answer["id"]: answer for answer in answers}, **told}
    assert [standing[i]["verified"] for i in (1, 2, 3)] == [True, False, False]
    assert 'No module of the model matches "layers.9.mixer"; did you mean' in standing[2]["message"]
    assert "A_lgo" in standing[3]["message"]
