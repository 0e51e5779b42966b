"""The replayed scan against the example's scan, the original implementations and itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from scanpoint_agent import replay, stops
from scanpoint_agent.calls import Call
from scanpoint_agent.conditions import ConditionError
from scanpoint_agent.replay import OpenScan

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "test" / "fixtures" / "golden"
sys.path.insert(0, str(ROOT / "examples"))

import vim_pytorch

NAMES = ("u", "delta", "A", "B", "C", "D", "z", "delta_bias")


def call_of(tensors: dict, original=None, **arguments) -> Call:
    call = Call("selective_scan", "scan")
    call.tensors = {name: value for name, value in tensors.items() if value is not None}
    call.inputs = call.tensors
    call.arguments = {**call.tensors, **arguments}
    call.original = original
    return call


def random_inputs(batch=2, channels=6, length=37, states=4, **shapes) -> dict:
    g = torch.Generator().manual_seed(0)

    def randn(*shape):
        return torch.randn(*shape, generator=g)

    return {
        "u": randn(batch, channels, length),
        "delta": F.softplus(randn(batch, channels, length)),
        "A": -torch.exp(randn(channels, states)),
        "B": randn(*shapes.get("B", (batch, states, length))),
        "C": randn(*shapes.get("C", (batch, states, length))),
        "D": randn(channels),
        "z": randn(batch, channels, length),
    }


def all_y(scan: OpenScan) -> torch.Tensor:
    """y (B, D, L) by stepping."""
    steps = []
    for t in range(scan.steps.length):
        scan.seek(t)
        steps.append(scan.tensors()["y_t"])
    return torch.stack(steps, dim=-1)


def reference(x: dict) -> torch.Tensor:
    """The recurrence with nothing clever: one channel and state at a time, in float64."""
    u, delta, A = (x[name].double() for name in ("u", "delta", "A"))
    batch, channels, length = u.shape
    h = torch.zeros(batch, channels, A.shape[1], dtype=torch.float64)
    y = torch.zeros_like(u)
    for t in range(length):
        for d in range(channels):
            B, C = (of_step(x[name].double(), channels, d, t) for name in ("B", "C"))
            decay = torch.exp(delta[:, d, t, None] * A[d])
            h[:, d] = decay * h[:, d] + delta[:, d, t, None] * B * u[:, d, t, None]
            y[:, d, t] = (h[:, d] * C).sum(-1)
    if x.get("D") is not None:
        y = y + x["D"].double()[:, None] * u
    return y if x.get("z") is None else y * F.silu(x["z"].double())


def of_step(x: torch.Tensor, channels: int, d: int, t: int) -> torch.Tensor:
    """B or C of one channel and step, in each of its forms."""
    if x.dim() == 2:
        return x[d]
    if x.dim() == 3:
        return x[:, :, t]
    return x[:, d * x.shape[1] // channels, :, t]


def test_agrees_with_the_example() -> None:
    x = random_inputs()
    y = vim_pytorch.selective_scan(**x)
    scan = OpenScan(1, call_of(x, original=vim_pytorch.selective_scan))
    assert all_y(scan) == pytest.approx(y, abs=1e-5)
    difference, scale = scan.difference()
    assert difference < 1e-5 * scale
    assert scale == scan.tensors()["y_t"].abs().max()


@pytest.mark.parametrize("B", ((2, 4, 37), (2, 3, 4, 37), (2, 1, 4, 37), (6, 4)))
@pytest.mark.parametrize("C", ((2, 4, 37), (2, 2, 4, 37), (6, 4)))
@pytest.mark.parametrize("less", (False, True))
def test_every_form_of_b_and_c(B: tuple, C: tuple, less: bool) -> None:
    x = random_inputs(B=B, C=C)
    if less:
        x["D"] = x["z"] = None
    scan = OpenScan(1, call_of(x))
    assert all_y(scan).double() == pytest.approx(reference(x), abs=1e-4)
    assert scan.difference() is None
    assert "not known" in scan.difference_text()


def test_channels_last_as_in_mamba_minimal() -> None:
    x = random_inputs()
    turned = {n: v.transpose(1, 2) if v.dim() == 3 else v for n, v in x.items()}
    y = vim_pytorch.selective_scan(**x)
    scan = OpenScan(1, call_of({**turned, "y": y.transpose(1, 2)}))
    assert scan.difference()[0] < 1e-5
    assert all_y(scan) == pytest.approx(y, abs=1e-5)


def test_as_many_channels_as_steps() -> None:
    x = random_inputs(channels=8, length=8)
    turned = {n: v.transpose(1, 2) if v.dim() == 3 else v for n, v in x.items()}
    y = vim_pytorch.selective_scan(**x)
    assert all_y(OpenScan(1, call_of(x))) == pytest.approx(y, abs=1e-5)
    assert all_y(OpenScan(1, call_of(turned))) == pytest.approx(y, abs=1e-5)


def test_heads_of_mamba_2() -> None:
    """Against the recurrence of the state space dual form, written with its own axes."""
    g = torch.Generator().manual_seed(1)
    batch, length, heads, width, groups, states = 2, 21, 4, 3, 2, 5
    u = torch.randn(batch, length, heads, width, generator=g)
    delta = torch.randn(batch, length, heads, generator=g)
    bias, D = torch.randn(heads, generator=g), torch.randn(heads, generator=g)
    A = -torch.rand(heads, generator=g)
    B, C = (torch.randn(batch, length, groups, states, generator=g) for _ in range(2))
    dt = F.softplus(delta + bias)
    h = torch.zeros(batch, heads, width, states)
    expected = []
    for t in range(length):
        Bt, Ct = (v[:, t].repeat_interleave(heads // groups, 1) for v in (B, C))
        decay = torch.exp(dt[:, t] * A)[..., None, None]
        h = decay * h + (dt[:, t, :, None] * u[:, t])[..., None] * Bt[:, :, None]
        expected.append((h * Ct[:, :, None]).sum(-1) + D[:, None] * u[:, t])
    y = torch.stack(expected, 1)
    tensors = {"u": u, "delta": delta, "A": A, "B": B, "C": C, "D": D, "delta_bias": bias, "y": y}
    scan = OpenScan(1, call_of(tensors, dt_softplus=True))
    for t in range(length):
        scan.seek(t)
        assert scan.difference()[0] < 1e-5


def test_a_scan_that_goes_on_from_a_state() -> None:
    x = random_inputs(length=40)
    whole, first = OpenScan(1, call_of(x)), {n: cut(v, 0, 25) for n, v in x.items()}
    start = OpenScan(1, call_of(first))
    start.seek(24)
    rest = {n: cut(v, 25, 40) for n, v in x.items()}
    scan = OpenScan(1, call_of({**rest, "initial_states": start.tensors()["h"]}))
    whole.seek(39)
    scan.seek(14)
    assert torch.allclose(scan.tensors()["h"], whole.tensors()["h"], rtol=1e-5)


def cut(x: torch.Tensor, start: int, stop: int) -> torch.Tensor:
    """The steps `start` .. `stop - 1` of a tensor over time."""
    return x[..., start:stop] if x.dim() == 3 else x


def golden_scans() -> list[tuple[str, int]]:
    cases = json.loads((GOLDEN / "vim_manifest.json").read_text())
    found = []
    for case in cases:
        path = GOLDEN / f"{case}.golden.safetensors"
        if path.exists():
            tensors = load_file(path)
            count = len({n.split(".")[1] for n in tensors if n.startswith("scan.")})
            found += [(case, i) for i in range(count)]
    return found


@pytest.mark.parametrize(("case", "i"), golden_scans())
def test_agrees_with_the_original_implementation(case: str, i: int) -> None:
    golden = load_file(GOLDEN / f"{case}.golden.safetensors")
    tensors = {name: golden.get(f"scan.{i}.{name}") for name in NAMES}
    tensors["y"] = golden[f"scan.{i}.out"]
    scan = OpenScan(1, call_of(tensors, delta_softplus=True))
    for t in range(scan.steps.length):
        scan.seek(t)
        difference, scale = scan.difference()
        assert difference <= 1e-4 * max(1.0, scale)
    state = golden.get(f"scan.{i}.last_state")
    if state is not None:
        assert scan.tensors()["h"] == pytest.approx(state, abs=1e-4)


def test_agrees_with_the_original_language_model() -> None:
    golden = load_file(GOLDEN / "mamba_lm_small.golden.safetensors")
    count = len({name.split(".")[1] for name in golden if name.startswith("scan.")})
    assert count > 0
    for i in range(count):
        names = ("u", "delta", "A", "B", "C", "D", "y")
        scan = OpenScan(1, call_of({name: golden[f"scan.{i}.{name}"] for name in names}))
        for t in range(scan.steps.length):
            scan.seek(t)
            difference, scale = scan.difference()
            assert difference <= 1e-4 * max(1.0, scale)


def test_going_back_is_bit_equal() -> None:
    scan = OpenScan(1, call_of(random_inputs(length=70)))
    first = []
    for t in range(70):
        scan.seek(t)
        first.append({name: x.clone() for name, x in scan.tensors().items()})
    for t in (69, 0, 17, 16, 15, 63, 64, 31, 2):
        scan.seek(t)
        for name, x in scan.tensors().items():
            assert torch.equal(x, first[t][name]), (t, name)


def test_the_tensors_of_a_step_belong_together() -> None:
    x = random_inputs()
    scan = OpenScan(1, call_of(x))
    scan.seek(4)
    before = scan.tensors()["h"].clone()
    scan.seek(5)
    s = scan.tensors()
    assert set(s) == {
        "h", "u_t", "delta_t", "decay", "kept", "written", "B_t", "C_t", "z_t", "y_t",
    }  # fmt: skip
    assert torch.equal(s["u_t"], x["u"][..., 5])
    assert torch.equal(s["B_t"], x["B"][..., 5])
    assert torch.equal(s["decay"], torch.exp(s["delta_t"][..., None] * x["A"]))
    assert torch.equal(s["kept"], s["decay"] * before)
    assert torch.equal(s["h"], s["kept"] + s["written"])


def test_half_precision_is_replayed_in_float32() -> None:
    x = {name: v.to(torch.bfloat16) for name, v in random_inputs().items()}
    scan = OpenScan(1, call_of(x))
    assert scan.tensors()["h"].dtype == torch.float32
    wide = {name: v.float() for name, v in x.items()}
    assert all_y(scan) == pytest.approx(vim_pytorch.selective_scan(**wide), abs=1e-5)


def test_complex_states() -> None:
    x = random_inputs(states=4)
    x["A"] = torch.complex(x["A"], torch.ones(6, 4))
    x["B"], x["C"] = torch.randn(2, 4, 74), torch.randn(2, 4, 74)
    scan = OpenScan(1, call_of(x))
    B, C = (torch.view_as_complex(x[n].unflatten(-1, (37, 2))) for n in ("B", "C"))
    h = torch.zeros(2, 6, 4, dtype=torch.complex64)
    for t in range(37):
        delta, u = x["delta"][..., t, None], x["u"][..., t, None]
        h = torch.exp(delta * x["A"]) * h + delta * u * B[:, None, :, t]
    scan.seek(36)
    assert torch.allclose(scan.tensors()["h"], h, atol=1e-4)
    y = (h * C[:, None, :, 36]).sum(-1).real * 2 + x["D"] * x["u"][..., 36]
    assert scan.tensors()["y_t"] == pytest.approx(y * F.silu(x["z"][..., 36]), abs=1e-4)


def test_nothing_of_the_program_changes() -> None:
    x = {name: v.requires_grad_() for name, v in random_inputs().items()}
    versions = {name: v._version for name, v in x.items()}
    scan = OpenScan(1, call_of(x, original=vim_pytorch.selective_scan))
    with torch.autocast("cpu", torch.bfloat16):
        y = all_y(scan)
    assert not y.requires_grad
    assert y.dtype == torch.float32
    assert {name: v._version for name, v in x.items()} == versions


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> dict:
    x = random_inputs(length=50)
    call = call_of(x)
    calls = {7: call}
    monkeypatch.setattr(stops, "current", calls.get)
    yield calls
    replay.close_scan({})


def test_the_requests(stopped: dict) -> None:
    opened = replay.open_scan({"threadId": 7})
    assert (opened["length"], opened["t"]) == (50, 0)
    assert opened["text"] == "t=0, difference to the kernel not known: the kernel gave no y"
    assert replay.seek_scan({"t": 20})["t"] == 20
    assert replay.step_scan({"by": -1})["t"] == 19
    assert replay.step_scan({"by": 1})["t"] == 20
    assert replay.run_scan({"by": 1}) | {"text": ""} == {
        "length": 50, "t": 49, "stopped": False, "text": "",
    }  # fmt: skip
    assert replay.step_scan({"by": 1}) | {"text": ""} == {
        "length": 50, "t": 49, "stopped": False, "text": "",
    }  # fmt: skip
    with pytest.raises(ValueError, match="no step 50"):
        replay.seek_scan({"t": 50})


def test_run_to_a_condition(stopped: dict) -> None:
    replay.open_scan({"threadId": 7})
    found = replay.run_scan({"condition": "h.absmax() > 3 or t == 40", "by": 1})
    assert found["stopped"]
    scan = replay.current(7)
    assert scan.tensors()["h"].abs().max() > 3 or found["t"] == 40
    for t in range(1, found["t"]):
        scan.seek(t)
        assert scan.tensors()["h"].abs().max() <= 3
    back = replay.run_scan({"condition": "t == 0", "by": -1})
    assert (back["t"], back["stopped"]) == (0, True) if found["t"] > 1 else True
    with pytest.raises(ConditionError, match="truth value"):
        replay.run_scan({"condition": "h > 3", "by": 1})


def test_a_scan_closes_with_its_stop(stopped: dict) -> None:
    replay.open_scan({"threadId": 7})
    stopped[7] = call_of(random_inputs())
    with pytest.raises(ValueError, match="No scan is open"):
        replay.step_scan({"by": 1})


@pytest.mark.parametrize("lacking", ("u", "B"))
def test_what_is_no_scan_is_refused(lacking: str) -> None:
    x = random_inputs()
    del x[lacking]
    with pytest.raises(ValueError, match=f"has no {lacking}"):
        OpenScan(1, call_of(x))
    convolution = call_of(random_inputs())
    convolution.boundary = "causal_conv1d"
    with pytest.raises(ValueError, match="another boundary"):
        OpenScan(1, convolution)
