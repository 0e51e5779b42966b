"""Opening fused calls: the same numbers, and the scans inside as boundaries of their own."""

from __future__ import annotations

import pytest
import torch
from harness import boundary
from torch import nn

pytest_plugins = ["agent_fixtures"]

INTERFACE = "mamba_ssm.ops.selective_scan_interface"
B, D, L, N, RANK = 2, 6, 5, 3, 2


def inner(out: bool = True) -> dict:
    """The arguments of mamba_inner_fn, without its projection out where `out` is False."""
    torch.manual_seed(1)
    arguments = {
        "xz": torch.randn(B, 2 * D, L),
        "conv1d_weight": torch.randn(D, 1, 4),
        "conv1d_bias": torch.randn(D),
        "x_proj_weight": torch.randn(RANK + 2 * N, D),
        "delta_proj_weight": torch.randn(D, RANK),
        "A": -torch.rand(D, N),
        "D": torch.randn(D),
        "delta_bias": torch.randn(D),
    }
    if out:
        arguments.update(out_proj_weight=torch.randn(4, D), out_proj_bias=torch.randn(4))
    return {name: value.requires_grad_() for name, value in arguments.items()}


def split(**more) -> dict:
    """The arguments of mamba_split_conv1d_scan_combined: two heads of three channels."""
    torch.manual_seed(1)
    return {
        "zxbcdt": torch.randn(B, L, 2 * D + 4 * N + 2),
        "conv1d_weight": torch.randn(D + 4 * N, 4),
        "conv1d_bias": torch.randn(D + 4 * N),
        "dt_bias": torch.rand(2),
        "A": -torch.rand(2),
        "D": torch.randn(2),
        "chunk_size": 4,
        "headdim": 3,
        "ngroups": 2,
        "outproj_weight": torch.randn(4, D),
        **more,
    }


CASES = {
    "mamba_inner_fn": (INTERFACE, inner, 1),
    "mamba_inner_fn_no_out_proj": (INTERFACE, lambda: inner(out=False), 1),
    "bimamba_inner_fn": (INTERFACE, lambda: {**inner(), "A_b": -torch.rand(D, N)}, 2),
}
SSD = "mamba_ssm.ops.triton.ssd_combined"
NORM = torch.rand(D)


def compared(agent, function, arguments: dict) -> list:
    """Calls a function as it is and opened; the entries of boundaries in the opened call."""
    expected = function(**arguments)
    agent.start(unfuse=True)
    seen = agent.observe()
    result = function(**arguments)
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)
    return [call for call in seen if call.phase == "entry"]


@pytest.mark.parametrize("name", CASES)
def test_mamba_1(agent, packages, name):
    module, arguments, scans = CASES[name]
    agent.start()
    entries = compared(agent, getattr(packages(module), name), arguments())
    kinds = [call.boundary for call in entries]
    assert kinds == ["causal_conv1d"] + ["selective_scan"] * scans
    assert {"u", "delta", "A", "B", "C", "D", "z", "delta_bias"} <= set(entries[1].tensors)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"rmsnorm_weight": NORM},
        {"rmsnorm_weight": NORM, "norm_before_gate": False},
        {"outproj_weight": None},
    ],
    ids=["gated", "norm, then gate", "gate, then norm", "no projection"],
)
def test_mamba_2(agent, packages, more):
    agent.start()
    function = packages(SSD).mamba_split_conv1d_scan_combined
    entries = compared(agent, function, split(**more))
    assert [call.boundary for call in entries] == ["causal_conv1d", "selective_scan"]


def test_gradients_are_the_same(agent, packages):
    agent.start()
    interface = packages(INTERFACE)

    def gradients() -> dict:
        arguments = inner()
        interface.mamba_inner_fn(**arguments).square().sum().backward()
        return {name: value.grad for name, value in arguments.items()}

    expected = gradients()
    agent.start(unfuse=True)
    agent.observe()
    for name, gradient in gradients().items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-4)


def test_the_directions_of_an_opened_call_are_told_apart(agent, packages):
    agent.start(unfuse=True)
    interface = packages(INTERFACE)

    class Mixer(nn.Module):
        def __init__(self):
            super().__init__()
            self.A_b_log = nn.Parameter(torch.rand(D, N))

        def forward(self, arguments):
            return interface.bimamba_inner_fn(**arguments, A_b=-self.A_b_log.exp())

    seen = agent.observe()
    Mixer()(inner())
    scans = [c for c in seen if (c.boundary, c.phase) == ("selective_scan", "entry")]
    assert [call.direction for call in scans] == ["forward", "backward"]
    assert scans[0].note == "inside bimamba_inner_fn, opened"


def test_what_would_change_the_model_is_refused_with_a_reason(agent, packages):
    agent.start(unfuse=True)
    interface = packages(INTERFACE)
    agent.observe()
    arguments = inner(out=False)
    interface.mamba_inner_fn_no_out_proj(**{**arguments, "A": arguments["A"].to(torch.cfloat)})
    assert "complex A" in agent.output()
    assert agent.seen[0].function.endswith("mamba_inner_fn_no_out_proj")


def test_a_condition_on_what_a_fused_call_hides_says_so(agent, packages):
    agent.start()
    interface = packages(INTERFACE)
    agent.probes(boundary(condition="delta.max() > 0"))
    interface.mamba_inner_fn(**inner())
    told = [body["probe"]["message"] for body in agent.sent if "probe" in body]
    assert "'delta' is not defined" in told[0]
    assert "`unfuse` opens it" in told[0]
