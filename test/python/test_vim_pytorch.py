"""examples/vim_pytorch.py against values of the original Vision Mamba code.

The golden files were made with the original code (see the README beside them), so agreement is
evidence that the example computes what the published model computes, forward and backward.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parents[1] / "fixtures" / "golden"
sys.path.insert(0, str(ROOT / "examples"))

import vim_pytorch

CASES = (
    "vim_v2_midcls_div2",
    "vim_v2_headcls_rope_residual",
    "vim_v1_doublecls",
    "vim_none_bidirectional_meanpool",
    "vim_none_unidirectional_lastpool_layerscale",
    "vim_v2_stride4_overlap",
)


def assert_agrees(name: str, actual: Tensor, golden: Tensor) -> None:
    """The README's tolerance: max |difference| <= 1e-4 x max(1, max |golden|)."""
    assert actual.shape == golden.shape, f"{name}: {tuple(actual.shape)} != {tuple(golden.shape)}"
    difference = (actual.detach().float() - golden).abs().max().item()
    bound = 1e-4 * max(1.0, golden.abs().max().item())
    # Written so that NaN fails too.
    assert difference <= bound, f"{name}: differs by {difference:.3g}, allowed is {bound:.3g}"


class Run:
    """One forward and backward pass of a case, with what each block and each scan saw."""

    def __init__(self, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
        config = json.loads((GOLDEN / "vim_manifest.json").read_text())[case]["config"]
        self.golden = load_file(GOLDEN / f"{case}.golden.safetensors")
        self.model = vim_pytorch.VisionMamba(**config)
        self.model.load_state_dict(load_file(GOLDEN / f"{case}.weights.safetensors"), strict=True)

        self.scans: list[dict[str, Tensor]] = []
        scan = vim_pytorch.selective_scan

        def recording_scan(u, delta, A, B, C, D, z):
            out = scan(u, delta, A, B, C, D, z)
            self.scans.append(
                {"u": u, "delta": delta, "A": A, "B": B, "C": C, "D": D, "z": z, "out": out}
            )
            return out

        # The model calls the scan by its global name; a debugger hooks it the same way.
        monkeypatch.setattr(vim_pytorch, "selective_scan", recording_scan)

        self.blocks: list[tuple[Tensor, Tensor]] = []
        for layer in self.model.layers:
            layer.register_forward_hook(lambda _module, _args, out: self.blocks.append(out))

        self.input = self.golden["input"].clone().requires_grad_()
        self.logits = self.model(self.input)
        self.loss = F.cross_entropy(self.logits, self.golden["labels"])
        self.loss.backward()


@pytest.fixture(params=CASES)
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(request.param, monkeypatch)


def test_forward_agrees_with_the_original(run: Run) -> None:
    assert len(run.blocks) == len(run.model.layers)
    for k, (hidden_states, residual) in enumerate(run.blocks):
        assert_agrees(f"hidden_states {k}", hidden_states, run.golden[f"layers.{k}.hidden_states"])
        assert_agrees(f"residual {k}", residual, run.golden[f"layers.{k}.residual"])
    assert_agrees("logits", run.logits, run.golden["logits"])
    assert_agrees("loss", run.loss.reshape(1), run.golden["loss"])


def test_scans_agree_with_the_original(run: Run) -> None:
    """Each scan's tensors, in the order of the calls: forward first, then the reversed one."""
    golden = run.golden
    assert len(run.scans) == sum(name.endswith(".last_state") for name in golden)
    for i, scan in enumerate(run.scans):
        # The original gives the scan delta before its bias and softplus.
        delta = F.softplus(golden[f"scan.{i}.delta"] + golden[f"scan.{i}.delta_bias"][:, None])
        assert_agrees(f"scan {i} delta", scan["delta"], delta)
        for name in ("u", "A", "B", "C", "D", "z", "out"):
            assert_agrees(f"scan {i} {name}", scan[name], golden[f"scan.{i}.{name}"])


def test_gradients_agree_with_the_original(run: Run) -> None:
    assert_agrees("grad input", run.input.grad, run.golden["grad.input"])
    parameters = dict(run.model.named_parameters())
    expected = {n.removeprefix("grad.") for n in run.golden if n.startswith("grad.")} - {"input"}
    assert set(parameters) == expected
    for name, parameter in parameters.items():
        assert parameter.grad is not None, f"{name} has no gradient"
        assert_agrees(f"grad {name}", parameter.grad, run.golden[f"grad.{name}"])


def fill(name: str, shape: torch.Size, scale: float, offset: float = 0.0) -> Tensor:
    """The README's fill rule: a linear congruential generator seeded by the tensor's name."""
    seed = 0
    for byte in name.encode():
        seed = (31 * seed + byte) % 2**32
    multiplier, increment, count = 1664525, 1013904223, math.prod(shape)
    states = np.array([(multiplier * seed + increment) % 2**32], dtype=np.uint64)
    while len(states) < count:
        # Jump the whole block ahead by its own length: k steps are again one linear step.
        states = np.concatenate((states, (multiplier * states + increment) % 2**32))
        increment = (multiplier * increment + increment) % 2**32
        multiplier = multiplier * multiplier % 2**32
    values = (states[:count] / 2**32 - 0.5) * 2 * scale + offset
    return torch.from_numpy(values.astype(np.float32)).reshape(shape)


def fill_parameter(name: str, shape: torch.Size) -> Tensor:
    if name.endswith(("A_log", "A_b_log")):
        return torch.log(torch.arange(1, shape[1] + 1).float()).expand(shape)
    if name in ("pos_embed", "cls_token"):
        return fill(name, shape, 0.02)
    if name.endswith(("dt_proj.bias", "dt_proj_b.bias")):
        return fill(name, shape, 1.0, -4.0)
    if name.endswith((".D", ".D_b", "norm.weight", "norm_f.weight")):
        return fill(name, shape, 0.1, 1.0)
    if name.endswith("bias"):
        return fill(name, shape, 0.05)
    return fill(name, shape, 1 / math.sqrt(math.prod(shape[1:])))


def test_full_size_vim_tiny_agrees_with_the_original() -> None:
    golden = load_file(GOLDEN / "vim_tiny_full.golden.safetensors")
    order = json.loads((GOLDEN / "vim_tiny_full.json").read_text())["grad_norms_order"]
    model = vim_pytorch.VisionMamba(final_pool_type="mean", drop_path_rate=0.0)  # Vim-tiny
    parameters = dict(model.named_parameters())
    assert sum(p.numel() for p in parameters.values()) == 7_148_008
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(fill_parameter(name, parameter.shape))

    hidden: list[Tensor] = []
    for layer in model.layers:
        layer.register_forward_hook(lambda _module, _args, out: hidden.append(out[0]))
    logits = model(fill("input", torch.Size((1, 3, 224, 224)), 2.0))
    F.cross_entropy(logits, torch.tensor([281])).backward()

    assert_agrees("logits", logits, golden["logits"])
    for k in (0, 23):
        assert_agrees(f"layer {k}", hidden[k], golden[f"layers.{k}.hidden_states"])
    norms = torch.stack([parameters[name].grad.norm() for name in order])
    assert_agrees("gradient norms", norms, golden["grad_norms"])


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ({"rms_norm": False}, (2, 10)),
        ({"if_cls_token": False, "final_pool_type": "max"}, (2, 10)),
        ({"if_cls_token": False, "final_pool_type": "all"}, (2, 16, 10)),
        (
            {"if_cls_token": False, "if_abs_pos_embed": False, "if_rope": True, "pt_hw_seq_len": 4},
            (2, 10),
        ),
        ({"d_state": 4, "ssm_cfg": {"d_conv": 3, "expand": 1, "dt_rank": 5}}, (2, 10)),
        ({"drop_path_rate": 0.5, "drop_rate": 0.1}, (2, 10)),
        ({"num_classes": 0}, (2, 32)),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_other_variants_run_forward_and_backward(arguments: dict, shape: tuple) -> None:
    small = {
        "img_size": 32,
        "patch_size": 8,
        "stride": 8,
        "depth": 2,
        "embed_dim": 32,
        "num_classes": 10,
    }
    model = vim_pytorch.VisionMamba(**{**small, **arguments})
    out = model(torch.randn(2, 3, 32, 32))
    assert out.shape == shape
    out.square().sum().backward()
    for name, parameter in model.named_parameters():
        assert torch.isfinite(parameter.grad).all(), name


def test_a_wrong_argument_is_reported() -> None:
    with pytest.warns(UserWarning, match="if_devide_out"):
        vim_pytorch.VisionMamba(depth=1, embed_dim=32, if_devide_out=True)
    with pytest.raises(ValueError, match="v3"):
        vim_pytorch.VisionMamba(depth=1, embed_dim=32, bimamba_type="v3")
    with pytest.raises(ValueError, match="images"):
        vim_pytorch.VisionMamba(depth=1, embed_dim=32)(torch.randn(1, 3, 32, 32))
