"""Which functions are found to be boundaries, and what a call of one is told as."""

from __future__ import annotations

import copy

import pytest
import torch
from harness import EXAMPLES

pytest_plugins = ["agent_fixtures"]

INTERFACE = "mamba_ssm.ops.selective_scan_interface"
SSD = "mamba_ssm.ops.triton.ssd_combined"
B, D, L, N = 2, 6, 5, 3


def scan_arguments() -> list[torch.Tensor]:
    """u, delta, A, B, C, D, z of Mamba-1."""
    u, delta, z = torch.randn(3, B, D, L)
    return [u, delta, -torch.rand(D, N), *torch.randn(2, B, N, L), torch.ones(D), z]


def inner_arguments() -> list[torch.Tensor | None]:
    """xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight."""
    return [torch.randn(B, 2 * D, L), torch.randn(D, 1, 4), None, torch.randn(2 + 2 * N, D),
            torch.randn(D, 2)]  # fmt: skip


def out_arguments() -> list[torch.Tensor | None]:
    """out_proj_weight, out_proj_bias, A."""
    return [torch.randn(4, D), None, -torch.rand(D, N)]


def ssd_arguments() -> list:
    """x, dt, A, B, C, chunk_size of Mamba-2, with two heads of three channels."""
    return [torch.randn(B, L, 2, 3), torch.rand(B, L, 2), -torch.rand(2),
            *torch.randn(2, B, L, 1, N), 4]  # fmt: skip


def split_arguments() -> list:
    """zxbcdt, conv1d_weight, conv1d_bias, dt_bias, A, D, chunk_size."""
    return [torch.randn(B, L, 2 * 6 + 2 * N + 2), torch.randn(6 + 2 * N, 4), None, torch.rand(2),
            -torch.rand(2), torch.ones(2), 4]  # fmt: skip


# module, function, arguments, keywords, boundary, names at the exit
FAMILY = [
    (INTERFACE, "selective_scan_fn", scan_arguments, {"delta_softplus": True}, "selective_scan",
     "u delta A B C D z y"),
    (INTERFACE, "selective_scan_fn", scan_arguments, {"return_last_state": True},
     "selective_scan", "u delta A B C D z y h"),
    (INTERFACE, "selective_scan_ref", scan_arguments, {}, "selective_scan", "u delta A B C D z y"),
    (INTERFACE, "mamba_inner_fn", lambda: [*inner_arguments(), *out_arguments()],
     {"D": torch.ones(D), "delta_bias": torch.ones(D)}, "selective_scan",
     "xz conv1d_weight x_proj_weight delta_proj_weight out_proj_weight A D delta_bias out"),
    (INTERFACE, "mamba_inner_fn_no_out_proj", lambda: [*inner_arguments(), -torch.rand(D, N)], {},
     "selective_scan", "xz conv1d_weight x_proj_weight delta_proj_weight A y"),
    (INTERFACE, "bimamba_inner_fn",
     lambda: [*inner_arguments(), *out_arguments(), -torch.rand(D, N)], {}, "selective_scan",
     "xz conv1d_weight x_proj_weight delta_proj_weight out_proj_weight A A_b out"),
    (SSD, "mamba_chunk_scan_combined", ssd_arguments, {"dt_bias": torch.rand(2)}, "selective_scan",
     "u delta A B C delta_bias y"),
    (SSD, "mamba_split_conv1d_scan_combined", split_arguments, {"headdim": 3}, "selective_scan",
     "zxbcdt conv1d_weight delta_bias A D out"),
    ("mamba_ssm.ops.triton.selective_state_update", "selective_state_update",
     lambda: [torch.zeros(B, D, N), torch.randn(B, D), torch.rand(B, D), -torch.rand(D, N),
              torch.randn(B, N), torch.randn(B, N)], {}, "selective_scan", "h u delta A B C y"),
    ("causal_conv1d", "causal_conv1d_fn",
     lambda: [torch.randn(B, D, L), torch.randn(D, 4), torch.zeros(D)], {"activation": "silu"},
     "causal_conv1d", "x weight bias y"),
    ("causal_conv1d", "causal_conv1d_update",
     lambda: [torch.randn(B, D), torch.zeros(B, D, 4), torch.randn(D, 4)], {}, "causal_conv1d",
     "x conv_state weight y"),
]  # fmt: skip


@pytest.mark.parametrize("late", [False, True], ids=["before", "attached later"])
@pytest.mark.parametrize(
    ("module", "name", "arguments", "keywords", "kind", "names"), FAMILY, ids=lambda v: str(v)[:40]
)
def test_family(agent, packages, module, name, arguments, keywords, kind, names, late):
    if not late:
        agent.start()
    user = packages("user_model", f"from {module} import {name} as function\n")
    if late:
        agent.start()
    values = arguments()
    expected = user.function(*copy.deepcopy(values), **copy.deepcopy(keywords))
    seen = agent.observe()
    result = user.function(*values, **keywords)
    assert [(call.boundary, call.phase) for call in seen] == [(kind, "entry"), (kind, "exit")]
    assert set(seen[1].tensors) == set(names.split())
    assert set(seen[0].tensors) == set(names.split()) - {"y", "out"} - (
        {"h"} - set(seen[0].tensors)
    )
    assert seen[0].function.endswith(name)
    same(result, expected)


def same(a, b) -> None:
    """Both results are equal, bit for bit."""
    for x, y in zip(a if isinstance(a, tuple) else [a], b if isinstance(b, tuple) else [b]):
        assert torch.equal(x, y)


USER = """
import functools
import torch

def selective_scan(u, delta, *, A=None):
    return u * delta

def my_recurrence(u, delta, *rest, **more):
    return u + delta

def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner

@logged
def my_selective_scan_v2(x, dt):
    return x - dt

class Block:
    def selective_scan(self, u, delta, A, B, C, D):
        return u * delta * D

    @staticmethod
    def selective_scan_seq(u, delta):
        return u

def make():
    scale = 2.0
    def inner_selective_scan(u, delta):
        return u * scale
    return inner_selective_scan

def flops_selective_scan_fn(B=1, L=256):
    return B * L

def test_selective_scan(u, delta):
    return u
"""


@pytest.mark.parametrize("late", [False, True], ids=["before", "attached later"])
def test_functions_of_the_users_own(agent, packages, late):
    if not late:
        agent.start(scanFunctions=["user_scans.my_rec*"])
    user = packages("user_scans", USER)
    if late:
        agent.start(scanFunctions=["user_scans.my_rec*"])
    seen = agent.observe()
    x = torch.ones(2)
    user.selective_scan(x, x, A=x)
    user.my_recurrence(x, x, x, k=x)
    user.my_selective_scan_v2(x, dt=x)
    user.Block().selective_scan(x, x, x, x, x, x)
    user.Block.selective_scan_seq(x, x)
    user.flops_selective_scan_fn()
    user.test_selective_scan(x, x)
    entries = [call for call in seen if call.phase == "entry"]
    assert [(call.function, " ".join(call.tensors)) for call in entries] == [
        ("user_scans.selective_scan", "u delta A"),
        ("user_scans.my_recurrence", "u delta"),
        ("user_scans.my_selective_scan_v2", "u delta"),
        ("user_scans.Block.selective_scan", "u delta A B C D"),
        ("user_scans.Block.selective_scan_seq", "u delta"),
    ]
    assert entries[1].arguments["rest"] == (x,)


def test_function_made_later_with_a_closure(agent, packages):
    agent.start()
    user = packages("user_scans", USER)
    seen = agent.observe()
    x = torch.ones(2)
    assert torch.equal(user.make()(x, x), 2 * x)
    assert [call.phase for call in seen] == ["entry", "exit"]


def test_one_scan_is_one_stop_though_its_parts_match_too(agent, packages):
    agent.start()
    interface = packages(INTERFACE)
    agent.probes({"target": {"kind": "boundary", "boundary": "selective_scan", "phase": "entry"}})
    interface.selective_scan_fn(*scan_arguments())  # calls selective_scan_ref
    assert len(agent.stops) == 1


def test_calls_without_tensors_pass(agent, packages):
    agent.start()
    user = packages("user_scans", USER)
    seen = agent.observe()
    assert user.selective_scan(2, 3) == 6
    assert seen == []


@pytest.mark.parametrize(
    ("kind", "directions"),
    [("none", [None]), ("v1", ["forward", "backward"]), ("v2", ["forward", "backward"])],
)
def test_vim_names_layers_and_directions(agent, packages, monkeypatch, kind, directions):
    agent.start()
    monkeypatch.syspath_prepend(EXAMPLES)
    vim_pytorch = packages("vim_pytorch")
    model = vim_pytorch.VisionMamba(
        img_size=16, patch_size=8, stride=8, depth=2, embed_dim=8, num_classes=3, bimamba_type=kind
    )
    seen = agent.observe()
    for _ in range(2):
        model(torch.randn(1, 3, 16, 16))
    scans = [call for call in seen if call.boundary == "selective_scan" and call.phase == "entry"]
    expected = [
        (f"layers.{layer}.mixer", layer, direction, occurrence)
        for occurrence in (1, 2)
        for layer in (0, 1)
        for direction in directions
    ]
    assert [(c.module, c.layer, c.direction, c.occurrence) for c in scans] == expected
    assert (scans[0].step, scans[-1].step) == (0, 1)
    convolutions = [call for call in seen if call.boundary == "causal_conv1d"]
    assert set(convolutions[0].tensors) == {"x", "weight", "bias"}
    assert scans[-1].site() == {
        "module": "layers.1.mixer",
        "op": "selective_scan",
        "occurrence": 2,
        **({"direction": "backward"} if kind != "none" else {}),
    }
