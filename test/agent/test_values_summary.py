"""Summaries against plain reductions, for every kind of tensor, without touching the program."""

from __future__ import annotations

import json
import math
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from scanpoint_agent import channel
from scanpoint_agent.budget import Budget
from scanpoint_agent.ondevice import Waiting
from scanpoint_agent.pieces import pieces
from scanpoint_agent.quiet import quiet
from scanpoint_agent.statistics import statistics
from scanpoint_agent.summary import summarize, summarize_all
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
FLOAT8 = tuple(
    getattr(torch, name) for name in ("float8_e4m3fn", "float8_e5m2") if hasattr(torch, name)
)


def numbers(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().to(torch.float64).numpy().ravel()


def check(summary: dict, values: np.ndarray) -> None:
    """All fields that are of the elements, against numpy in float64."""
    finite = values[np.isfinite(values)]
    assert summary["nan"] == np.isnan(values).sum()
    assert summary["posInf"] == (values == np.inf).sum()
    assert summary["negInf"] == (values == -np.inf).sum()
    assert summary["zeros"] == (values == 0).sum()
    if finite.size == 0:
        assert all(summary[name] is None for name in ("min", "max", "mean", "std", "absmax"))
        assert sum(summary["histogram"]) == 0
        return
    assert summary["min"] == finite.min()
    assert summary["max"] == finite.max()
    assert summary["absmax"] == np.abs(finite).max()
    scale = np.abs(finite).max()
    assert summary["mean"] == pytest.approx(finite.mean(), rel=1e-12, abs=1e-14 * scale)
    assert summary["std"] == pytest.approx(finite.std(), rel=1e-11, abs=1e-14 * scale)
    assert summary["histogram"] == bins_of(finite)


def bins_of(values: np.ndarray, bins: int = 64) -> list[int]:
    """The embedded target's rule (runtime/kernels/histogram.ts) in numpy."""
    low, high = values.min(), values.max()
    counts = np.zeros(bins, int)
    if low == high:
        counts[0] = values.size
        return counts.tolist()
    extent = high - low
    unit = 2.0**64 if extent < 2.0**-100 else 2.0**-4 if extent > 2.0**126 else 1.0
    scale, start = np.float32(bins / (extent * unit)), np.float32(low * unit)
    place = (values.astype(np.float32) * np.float32(unit) - start) * scale
    index = np.clip(place, 0, bins - 1).astype(int)
    return np.bincount(index, minlength=bins).tolist()


@pytest.mark.parametrize("dtype", (*FLOATS, *FLOAT8), ids=str)
def test_floats(dtype: torch.dtype) -> None:
    x = (torch.randn(3, 40, 50, generator=torch.Generator().manual_seed(0)) * 2 + 1).to(dtype)
    summary = summarize(x)
    check(summary, numbers(x))
    assert (summary["dtype"], summary["device"]) == (str(dtype)[6:], "cpu")
    assert (summary["shape"], summary["strides"]) == ([3, 40, 50], [2000, 50, 1])
    assert (summary["numel"], summary["contiguous"]) == (6000, True)
    assert summary["storagePointer"] == x.untyped_storage().data_ptr()
    assert "note" not in summary


@pytest.mark.parametrize("dtype", (torch.int64, torch.int8, torch.uint8, torch.bool), ids=str)
def test_whole_numbers(dtype: torch.dtype) -> None:
    x = torch.arange(300).remainder(7).to(dtype)
    check(summarize(x), numbers(x))


def test_complex_is_of_the_magnitude() -> None:
    x = torch.complex(torch.tensor([3.0, 0.0, math.nan]), torch.tensor([4.0, 0.0, 0.0]))
    summary = summarize(x.conj())
    assert (summary["min"], summary["max"], summary["nan"], summary["zeros"]) == (0, 5, 1, 1)
    assert (summary["dtype"], summary["note"]) == ("complex64", "of the magnitude")


@pytest.mark.parametrize("bad", ([], [math.nan], [math.inf, -math.inf, -math.inf], [math.nan, 0]))
@pytest.mark.parametrize("size", (1, 100, 70_000))
def test_what_is_not_finite_is_counted(bad: list[float], size: int) -> None:
    x = torch.randn(size, generator=torch.Generator().manual_seed(1))
    x[: len(bad)] = torch.tensor(bad)[:size]
    check(summarize(x), numbers(x))
    json.dumps(channel.strict(summarize(x)), allow_nan=False)


@pytest.mark.parametrize("value", (0.0, -0.0, 0.1, 1e30, math.nan, math.inf))
def test_constants(value: float) -> None:
    x = torch.full((40_001,), value)
    check(summarize(x), numbers(x))


def test_std_of_a_large_mean_does_not_cancel() -> None:
    x = torch.randn(100_000, dtype=torch.float64, generator=torch.Generator().manual_seed(2)) + 1e7
    check(summarize(x), numbers(x))


LAYOUTS = {
    "transposed": lambda x: x.transpose(0, 2),
    "flipped slice": lambda x: x[:, 3::2, 5:],
    "expanded": lambda x: x[:1].expand(7, -1, -1),
    "expanded inside": lambda x: x[:, :1].expand(-1, 9, -1),
    "overlapping windows": lambda x: x.view(-1).unfold(0, 5, 2),
    "scalar": lambda x: x[0, 0, 0],
    "empty": lambda x: x[:0],
    "one column": lambda x: x[..., 3],
    "channels last": lambda x: x[None].contiguous(memory_format=torch.channels_last),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str) -> None:
    base = torch.randn(30, 40, 50, generator=torch.Generator().manual_seed(3))
    base[3, 4, 5] = math.nan
    x = LAYOUTS[name](base)
    check(summarize(x), x.double().numpy().ravel())
    assert summarize(x)["contiguous"] == x.is_contiguous()


def test_pieces_cover_each_element_once_without_large_copies() -> None:
    x = torch.arange(24_000).view(20, 30, 40).transpose(0, 2)[:, ::3]
    parts = list(pieces(x, 500))
    assert all(part.numel() <= 500 and part.dim() == 1 for part in parts)
    assert torch.cat(parts).tolist() == x.reshape(-1).tolist()


@pytest.mark.parametrize("name", ("plain", *LAYOUTS))
@pytest.mark.parametrize("bad", (False, True))
def test_the_form_for_devices_gives_the_same(name: str, bad: bool) -> None:
    x = LAYOUTS.get(name, lambda x: x)(
        torch.randn(30, 40, 50, generator=torch.Generator().manual_seed(4))
    )
    if bad:
        x = torch.where(x > 1, math.inf, torch.where(x < -1, math.nan, x))
    waiting = Waiting()
    with quiet():
        waiting.add(x, 64, torch)
        waiting.add(torch.zeros(3), 64, torch)
        got, zeros = waiting.collect(torch)
        expected = statistics(x, 64)
    assert zeros.zeros == 3
    assert zeros.histogram == [3] + [0] * 63
    for field in ("count", "nan", "pos_inf", "neg_inf", "zeros", "histogram"):
        assert getattr(got, field) == getattr(expected, field), field
    if expected.count:
        assert (got.min, got.max) == (expected.min, expected.max)
        assert got.mean == pytest.approx(expected.mean, rel=1e-12, abs=1e-15)
        assert got.squares == pytest.approx(expected.squares, rel=1e-11, abs=1e-15)


def test_several_tensors_are_fetched_together(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = Waiting()
    for n in range(1, 6):
        waiting.add(torch.arange(n), 8, torch)
    fetched = []
    original = torch.Tensor.cpu
    monkeypatch.setattr(torch.Tensor, "cpu", lambda x: fetched.append(1) or original(x))
    monkeypatch.setattr(torch.Tensor, "item", lambda _: pytest.fail("waited for one number"))
    assert [s.max for s in waiting.collect(torch)] == [0, 1, 2, 3, 4]
    assert len(fetched) == 1


def fake(shape: tuple[int, ...]) -> torch.Tensor:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.empty(shape)


class Wrapped(torch.Tensor):
    """A tensor class that takes every operation itself."""

    @staticmethod
    def __new__(cls, shape):
        return torch.Tensor._make_wrapper_subclass(cls, shape)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("nobody may call this")


class Named(torch.Tensor):
    """A tensor class that takes every function itself."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("nobody may call this")


KINDS = {
    "meta": (lambda: torch.empty(2, 3, device="meta"), "meta: no data"),
    "fake": (lambda: fake((2, 3)), "fake: no data"),
    "wrapper": (lambda: Wrapped((2, 3)), "Wrapped has no numbers of its own"),
    "lazy": (lambda: torch.nn.LazyLinear(3).weight, "not initialised"),
    "mkldnn": (lambda: torch.ones(2, 3).to_mkldnn(), "MKL-DNN layout"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_without_numbers_say_why(kind: str) -> None:
    make, note = KINDS[kind]
    summary = summarize(make())
    assert summary["note"] == note
    assert summary["min"] is None
    assert summary["shape"] == ([0] if kind == "lazy" else [2, 3])


def test_sparse_is_of_the_stored_values() -> None:
    dense = torch.zeros(10, 10)
    dense[2, 3], dense[4, 5] = 7.0, -2.0
    for x in (dense.to_sparse(), dense.to_sparse_csr(), dense.to_sparse_csc()):
        summary = summarize(x)
        assert (summary["min"], summary["max"], summary["zeros"]) == (-2, 7, 98)
        assert (summary["numel"], summary["note"]) == (100, "of the 2 stored values")


@pytest.mark.parametrize("layout", (torch.strided, torch.jagged))
def test_nested(layout: torch.layout) -> None:
    x = torch.nested.nested_tensor([torch.ones(2, 3), torch.full((4, 3), 5.0)], layout=layout)
    summary = summarize(x)
    assert (summary["min"], summary["max"], summary["note"]) == (1, 5, "nested, 2 tensors")
    assert json.dumps(summary["shape"])


def test_quantised() -> None:
    x = torch.quantize_per_tensor(torch.tensor([-1.0, 0.0, 2.0]), 0.5, 0, torch.qint8)
    summary = summarize(x)
    assert (summary["min"], summary["max"]) == (-1, 2)
    assert summary["note"] == "of the dequantised values"


def test_a_class_with_torch_function_is_not_asked() -> None:
    assert summarize(torch.ones(3).as_subclass(Named))["mean"] == 1


def test_distributed_tensor_is_of_the_shard(tmp_path) -> None:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    store = torch.distributed.FileStore(str(tmp_path / "store"), 1)
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        x = distribute_tensor(torch.ones(4, 2), init_device_mesh("cpu", (1,)), [Shard(0)])
        summary = summarize(x)
    finally:
        torch.distributed.destroy_process_group()
    assert (summary["mean"], summary["note"]) == (1, "this rank's shard [4, 2]")


def test_inside_a_transform_only_the_shape_is_told() -> None:
    seen = []
    torch.func.vmap(lambda x: seen.append(summarize(x)) or x * 2)(torch.ones(5, 3))
    assert (seen[0]["shape"], seen[0]["note"]) == ([3], "inside a torch.func transform")


class Refusing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise RuntimeError("nobody may call this")


class RefusingFunctions(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise RuntimeError("nobody may call this")


@pytest.mark.parametrize(
    "mode",
    (
        nullcontext,
        torch.inference_mode,
        torch.no_grad,
        Refusing,
        RefusingFunctions,
        lambda: torch.autocast("cpu", torch.bfloat16),
        lambda: torch.device("meta"),
    ),
)
def test_the_program_is_left_alone(mode) -> None:
    x = torch.randn(50, 40, generator=torch.Generator().manual_seed(5)).requires_grad_()
    y = (x * 2).detach()
    expected = numbers(x)
    random, version, gradients = torch.get_rng_state(), y._version, torch.is_grad_enabled()
    with mode():
        inside = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        for summary in summarize_all([x, y], Budget(1e9)):
            assert summary["nan"] == 0
        check(summarize(x), expected)
        assert (torch.is_grad_enabled(), torch.is_inference_mode_enabled()) == inside
    assert torch.equal(torch.get_rng_state(), random)
    assert (y._version, torch.is_grad_enabled()) == (version, gradients)
    assert x.grad_fn is None
    assert summarize(x)["requiresGrad"] is True


def test_deterministic_algorithms_do_not_matter() -> None:
    torch.use_deterministic_algorithms(True)
    try:
        check(summarize(torch.arange(10.0)), np.arange(10.0))
    finally:
        torch.use_deterministic_algorithms(False)


def test_large_tensors_wait_until_they_are_expanded() -> None:
    small, large = torch.ones(10), torch.ones(2000)
    budget = Budget(ms=1e9, elements=1000)
    first, second = summarize_all([large, small], budget)
    assert first["note"] == "2,000 elements: expand for statistics"
    assert (first["min"], second["min"], budget.left_out) == (None, 1, 1)
    assert summarize(large)["min"] == 1


def test_nothing_is_computed_when_the_time_is_spent() -> None:
    budget = Budget(ms=0)
    summaries = summarize_all([torch.ones(3), torch.ones(4)], budget)
    assert [s["note"] for s in summaries] == ["expand for statistics"] * 2
    assert budget.left_out == 2


@pytest.mark.parametrize("size", (300_000, 3 << 20))
def test_the_histogram_of_a_large_tensor_is_of_a_part(size: int) -> None:
    x = torch.randn(size, generator=torch.Generator().manual_seed(6))
    summary = summarize(x)
    counted = sum(summary["histogram"])
    assert 200_000 < counted < size
    share = np.array(summary["histogram"]) / counted
    assert share == pytest.approx(np.array(bins_of(numbers(x))) / size, abs=4e-3)
