"""One line and curated children for tensors, modules, optimisers, containers and the like."""

from __future__ import annotations

import dataclasses
import warnings
from collections import OrderedDict, namedtuple

import pytest
import torch
from scanpoint_agent import containers, describe
from scanpoint_agent.budget import Budget
from scanpoint_agent.tensorfacts import alignment
from torch import nn

BIG = Budget(ms=1e9)


@pytest.fixture(autouse=True)
def no_text_of_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line may ask a tensor for its own text."""
    monkeypatch.setattr(torch.Tensor, "__repr__", lambda _: pytest.fail("repr of a tensor"))


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def children(value: object, **args) -> dict[str, dict]:
    entries = describe.variables(describe.members(value, args), Budget(ms=1e9))
    return {entry["name"]: entry for entry in entries}


def text(value: object, **args) -> dict[str, str]:
    return {name: entry["value"] for name, entry in children(value, **args).items()}


def test_tensor_line() -> None:
    assert describe.line(torch.arange(4.0)) == "[4] ∈ [0 ██ █ █ 3] μ 1.5 σ 1.12"
    assert describe.line(torch.tensor(0.1)) == "0.1"
    assert describe.line(torch.zeros(2, 3)) == "[2, 3] all 0"
    assert describe.line(torch.empty(2, device="meta")) == "[2] meta · meta: no data"


def test_tensor_children() -> None:
    x = torch.arange(12.0).view(3, 4).requires_grad_()
    (x * 2).sum().backward()
    facts = text(x)
    assert facts["shape"] == "[3, 4]"
    assert facts["strides"] == "(4, 1)"
    assert facts["contiguous"] == "True"
    assert facts["elements"] == "12, 48 B"
    assert facts["version"].startswith("0 ")
    assert facts["requires_grad"] == "True"
    assert facts["grad"] == "[3, 4] all 2"
    assert "grad_fn" not in facts
    assert [name for name in facts if name.startswith("[")] == ["[0]", "[1]", "[2]"]
    assert children(x)["[1]"]["children"] is True
    statistics = text(describe.member(x, "statistics"))
    assert (statistics["min"], statistics["max"]) == ("0", "11")
    assert statistics["zeros"] == "1 zero, 8.33 %"


def test_a_tensor_without_kept_gradient_is_not_asked_for_it() -> None:
    y = torch.ones(3, requires_grad=True) * 2
    assert text(y)["grad_fn"] == "MulBackward0"
    assert "grad" not in text(y)


def test_strided_view_tells_offset_and_alignment() -> None:
    x = torch.zeros(100)
    facts = text(x[3::2])
    assert facts["strides"] == "(2), not contiguous"
    assert facts["storage"] == f"{x.untyped_storage().data_ptr():#x} + 3 elements"
    assert alignment(512) == "256 bytes"
    assert alignment(384) == "128 bytes, not 256"
    assert alignment(48) == "16 bytes, not 128"
    assert alignment(12) == "not to 16 bytes"


def test_elements_come_in_pages() -> None:
    x = torch.arange(5000.0)
    assert text(x, filter="indexed", start=4000, count=2) == {"[4000]": "4000", "[4001]": "4001"}
    assert len(text(x, filter="indexed")) == 1000
    assert not any(name.startswith("[") for name in text(x, filter="named"))
    assert text(x, filter="indexed", start=9000, count=5) == {}
    assert children(torch.zeros(3, 2))["[0]"]["indexed"] == 2


@pytest.mark.parametrize(
    "x",
    (
        torch.ones(3, dtype=torch.bfloat16),
        torch.ones(3).to(torch.float8_e4m3fn),
        torch.ones(3, dtype=torch.complex64),
        torch.ones(3, dtype=torch.bool),
        torch.ones(3, dtype=torch.int32),
    ),
    ids=lambda x: str(x.dtype),
)
def test_elements_of_every_dtype(x: torch.Tensor) -> None:
    entries = text(x, filter="indexed")
    expected = {torch.complex64: "(1+0j)", torch.bool: "True"}.get(x.dtype, "1")
    assert list(entries.values()) == [expected] * 3


@pytest.mark.parametrize(
    "make",
    (
        lambda: torch.empty(2, 3, device="meta"),
        lambda: torch.eye(3).to_sparse(),
        lambda: torch.ones(2, 3).to_mkldnn(),
        lambda: torch.tensor(3.0),
    ),
)
def test_kinds_without_elements_still_have_facts(make) -> None:
    facts = text(make())
    assert facts["shape"].startswith("[")
    assert not any(name.startswith("[") for name in facts)


def test_module() -> None:
    model = nn.Sequential(OrderedDict(first=nn.Linear(4, 3), drop=nn.Dropout(0.1))).eval()
    model.first.bias.requires_grad_(False)
    assert describe.line(model) == "Sequential() · 15 parameters, 60 B · 1 of 2 frozen · eval"
    assert describe.line(model.drop) == "Dropout(p=0.1, inplace=False) · eval"
    lines = text(model.first)
    assert lines["bias"].startswith("[3] ")
    assert lines["in_features"] == "4"
    assert lines["training"] == "False"
    assert describe.member(describe.member(model, "first"), "weight") is model.first.weight
    assert children(model)["first"]["type"] == "Linear"


def test_a_module_of_half_precision_says_so() -> None:
    assert " · float16 · " in describe.line(nn.Linear(2, 2).half())


def test_a_lazy_module_does_not_raise() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = nn.LazyLinear(3)
    assert describe.line(module).startswith("LazyLinear(")
    assert text(module)["weight"].endswith("not initialised")


def test_optimizer() -> None:
    model = nn.Linear(4, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    assert describe.line(optimizer) == "AdamW · lr 0.001 · 2 parameters · no step yet"
    model(torch.ones(1, 4)).sum().backward()
    optimizer.step()
    assert describe.line(optimizer) == "AdamW · lr 0.001 · 2 parameters · 2 with state"
    state = describe.member(describe.member(optimizer, "state"), "state[0]")
    assert text(state)["'exp_avg'"].startswith("[3, 4] ")
    assert text(optimizer)["state"] == "of 2 parameters"


def test_state_dict() -> None:
    state = nn.Linear(4, 3).state_dict()
    assert describe.line(state).startswith(
        "2 tensors, 15 elements, 60 B: {'weight': float32 [3, 4]"
    )
    assert set(text(state)) == {"'weight'", "'bias'"}


def test_loader_and_generator() -> None:
    data = torch.utils.data.TensorDataset(torch.zeros(100, 2))
    loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
    assert describe.line(loader) == "4 batches of 32 · 100 samples · no workers · shuffled"
    assert text(loader)["batch_size"] == "32"
    generator = torch.Generator().manual_seed(7)
    before = generator.get_state()
    assert describe.line(generator) == "cpu · seed 7"
    assert torch.equal(generator.get_state(), before)


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    name: str


Pair = namedtuple("Pair", ["left", "right"])


def test_containers() -> None:
    a, b = torch.zeros(2, 3), torch.ones(4, dtype=torch.int64)
    assert describe.line([a, b]) == "2 tensors, 10 elements, 56 B: [float32 [2, 3], int64 [4]]"
    assert describe.line((a, 5, "x")) == "(float32 [2, 3], 5, 'x')"
    assert describe.line({"k": a, 3: None}) == "{'k': float32 [2, 3], 3: None}"
    assert describe.line(Output(a, "n")) == "{logits: float32 [2, 3], name: 'n'}"
    assert describe.line(Pair(a, b)).endswith("{left: float32 [2, 3], right: int64 [4]}")
    assert describe.line([[a], {"x": 1}]) == "[list of 1, dict of 1]"
    assert children([a, b])["1"]["type"] == "Tensor"
    assert describe.member({"k": a}, "'k'") is a
    assert describe.member(Output(a, "n"), "logits") is a


@pytest.mark.parametrize("value", (5, "text", [1, 2], {}, object(), Output, None, range(3)))
def test_what_debugpy_shows_well_is_left_to_it(value: object) -> None:
    assert describe.kind_of(value) is None


def test_long_containers_are_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    monkeypatch.setattr(containers, "is_tensor", lambda _: bool(looked.append(1)))
    assert describe.kind_of([[[0] * 1000] * 1000] * 1000) is None
    assert len(looked) <= 64


def test_containers_of_the_program_run_none_of_its_code() -> None:
    class Lazy(dict):
        def __iter__(self):
            pytest.fail("asked")

        values = items = keys = __len__ = __getitem__ = __iter__

    lazy = Lazy.__new__(Lazy)
    dict.__setitem__(lazy, "x", torch.zeros(2))
    assert describe.line(lazy) == "{'x': float32 [2]}"
    assert text(lazy) == {"'x'": "[2] all 0"}


def test_a_broken_object_does_not_raise() -> None:
    class Broken(nn.Module):
        def extra_repr(self) -> str:
            raise RuntimeError("no text")

        def __len__(self) -> int:
            raise RuntimeError("no length")

    assert describe.line(Broken()) == "Broken() · training"


class Unbound:
    """A proxy that has nothing behind it, as web frameworks have them."""

    def __getattribute__(self, name: str):
        raise RuntimeError("unbound")

    __eq__ = __bool__ = __len__ = __repr__ = __hash__ = lambda *_: pytest.fail("asked")


def test_a_proxy_that_raises_is_left_alone() -> None:
    proxy = Unbound()
    assert describe.kind_of(proxy) is None
    assert describe.line(proxy) == "Unbound"
    assert describe.line([torch.zeros(2), proxy]) == "[float32 [2], Unbound]"
    assert children([torch.zeros(2), proxy])["1"] == {
        "name": "1", "value": "Unbound", "type": "Unbound", "children": False,
    }  # fmt: skip


def test_a_frame_with_many_tensors_is_one_synchronisation(monkeypatch) -> None:
    collected = []
    from scanpoint_agent import ondevice

    original = ondevice.Waiting.collect
    monkeypatch.setattr(
        ondevice.Waiting, "collect", lambda self, t: collected.append(1) or original(self, t)
    )
    describe.variables([(f"x{i}", torch.zeros(i)) for i in range(20)])
    assert len(collected) == 1
