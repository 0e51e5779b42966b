"""Models that nobody here wrote, small and with random weights."""

from __future__ import annotations

import pytest
import torch

pytest_plugins = ["agent_fixtures"]

SMALL = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2}
MAMBA = {**SMALL, "state_size": 4}
JAMBA = {
    **SMALL, "intermediate_size": 16, "mamba_d_state": 4, "mamba_dt_rank": 2,
    "num_attention_heads": 2, "num_key_value_heads": 1, "attn_layer_offset": 1,
    "attn_layer_period": 2,
}  # fmt: skip

# class, configuration, the mixer's path, how many of them, tensors at the scan's exit
MODELS = [
    ("Mamba", MAMBA, "backbone.layers.{}.mixer", 2, "u delta A B C D z delta_bias y"),
    ("FalconMamba", MAMBA, "backbone.layers.{}.mixer", 2, "u delta A B C D z delta_bias y"),
    ("Mamba2", {**MAMBA, "num_heads": 4, "head_dim": 8, "n_groups": 1, "chunk_size": 4},
     "backbone.layers.{}.mixer", 2, "u delta A B C D delta_bias y"),
    ("Jamba", JAMBA, "model.layers.{}.mamba", 1, "u delta A B C D z delta_bias y h"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings", "path", "count", "names"), MODELS, ids=lambda v: v)
def test_transformers(agent, name, settings, path, count, names):
    agent.start()
    import transformers

    config = getattr(transformers, f"{name}Config")(**settings)
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}ForCausalLM")(config).eval()
    tokens = torch.arange(7)[None]
    expected = model(tokens).logits
    seen = agent.observe()
    assert torch.equal(model(tokens).logits, expected)
    for kind in ("selective_scan", "causal_conv1d"):
        places = [(c.module, c.layer) for c in seen if (c.boundary, c.phase) == (kind, "entry")]
        assert places == [(path.format(i), i) for i in range(count)]
    scan = next(c for c in seen if (c.boundary, c.phase) == ("selective_scan", "exit"))
    assert set(names.split()) <= set(scan.tensors)


@pytest.mark.parametrize(("parallel", "method"), [(True, ""), (False, "_seq")])
def test_mambapy(agent, parallel, method):
    agent.start()
    from mambapy.mamba import Mamba, MambaConfig

    model = Mamba(MambaConfig(d_model=8, n_layers=2, d_state=4, pscan=parallel))
    seen = agent.observe()
    model(torch.randn(1, 5, 8)).sum().backward()
    scans = [call for call in seen if (call.boundary, call.phase) == ("selective_scan", "exit")]
    assert [(c.module, c.layer) for c in scans] == [(f"layers.{i}.mixer", i) for i in range(2)]
    assert scans[0].function == f"mambapy.mamba.MambaBlock.selective_scan{method}"
    assert set(scans[0].tensors) == {"u", "delta", "A", "B", "C", "D", "y"}


# How transformers wrote it before its scans were functions.
MIXER = """
import torch
from torch import nn

class MambaMixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.A_log = nn.Parameter(torch.zeros(4, 2))
        self.D = nn.Parameter(torch.ones(4))

    def slow_forward(self, input_states, cache_params=None):
        h = 0
        for x in input_states.unbind(1):
            h = h * 0.5 + x
        return input_states * self.D + h[:, None]

    def forward(self, hidden_states):
        return self.slow_forward(hidden_states)
"""


def test_a_slow_path_without_a_scan_function_is_the_boundary_itself(agent, packages):
    agent.start()
    mixer = packages("user_mixer", MIXER).MambaMixer()
    seen = agent.observe()
    mixer(torch.ones(1, 3, 4))
    assert [(c.boundary, c.phase) for c in seen] == [
        ("selective_scan", "entry"),
        ("selective_scan", "exit"),
    ]
    assert set(seen[1].tensors) == {"hidden_states", "A_log", "D", "out"}
    assert "its own lines" in seen[0].note


# The shape of mamba-minimal and mambapy: methods that take the paper's names.
MINIMAL = """
import torch
from torch import nn

class PScan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, A_in, X_in):
        return X_in.cumsum(1)

    @staticmethod
    def backward(ctx, grad):
        return grad, grad

pscan = PScan.apply

class MambaBlock(nn.Module):
    def ssm(self, x):
        return self.selective_scan(x, x, x, x, x, x)

    def selective_scan(self, u, delta, A, B, C, D):
        return pscan(torch.exp(delta * A), u * B) * C + u * D

    def forward(self, x):
        return self.ssm(x)
"""


def test_methods_of_mamba_minimal_and_mambapy(agent, packages):
    agent.start()
    user = packages("user_minimal", MINIMAL)
    seen = agent.observe()
    user.MambaBlock()(torch.ones(1, 3, 4))
    assert [call.phase for call in seen] == ["entry", "exit"]
    assert set(seen[1].tensors) == {"u", "delta", "A", "B", "C", "D", "y"}
    assert seen[0].instance.__class__.__name__ == "MambaBlock"
    seen.clear()
    user.pscan(torch.ones(1, 2), torch.ones(1, 2))
    assert set(seen[1].tensors) == {"A", "u", "h"}
