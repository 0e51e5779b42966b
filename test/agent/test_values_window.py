"""Windows of a tensor: the rules of the embedded target, on the tensor's own device."""

from __future__ import annotations

import base64
import math

import numpy as np
import pytest
import torch
from scanpoint_agent import ondevice, window
from scanpoint_agent.quiet import quiet


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def decoded(reply: dict) -> np.ndarray:
    cells = np.frombuffer(base64.b64decode(reply["data"]), "<f4")
    return cells.reshape(reply["rows"], reply["columns"])


def expected_cells(matrix: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """One cell at a time: NaN, else the largest magnitude with its sign, the positive of equals."""
    found = np.zeros((rows, columns), np.float32)
    row_edges = [i * matrix.shape[0] // rows for i in range(rows + 1)]
    edges = [i * matrix.shape[1] // columns for i in range(columns + 1)]
    for i in range(rows):
        for j in range(columns):
            part = matrix[row_edges[i] : row_edges[i + 1], edges[j] : edges[j + 1]].ravel()
            if np.isnan(part).any():
                found[i, j] = math.nan
            else:
                most = np.abs(part).max()
                found[i, j] = most if (part == most).any() else -most
    return found


@pytest.mark.parametrize("size", ((7, 9), (64, 48), (1, 100), (100, 1), (33, 200)))
@pytest.mark.parametrize("most", ((1, 1), (4, 6), (7, 48), (2048, 2048)))
@pytest.mark.parametrize("block", (16, 1 << 22))
def test_cells(size, most, block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "_BLOCK", block)
    x = random(*size)
    x[0, 0], x[-1, -1] = math.nan, -math.inf
    reply = window.window(x, [], {"maxRows": most[0], "maxColumns": most[1]})
    rows, columns = min(size[0], most[0]), min(size[1], most[1])
    assert (reply["rows"], reply["columns"]) == (rows, columns)
    assert reply["reduced"] == (rows < size[0] or columns < size[1])
    np.testing.assert_array_equal(decoded(reply), expected_cells(x.numpy(), rows, columns))
    assert (reply["summary"]["nan"], reply["summary"]["negInf"]) == (1, 1)


def test_of_equal_magnitudes_the_positive_one() -> None:
    x = torch.tensor([[-3.0, 3.0, 1.0, -2.0]])
    assert decoded(window.window(x, [], {"maxColumns": 2})).tolist() == [[3, -2]]


def test_axes_index_and_parts() -> None:
    x = random(3, 4, 5, 6).transpose(1, 3)
    args = {
        "rowAxis": -2, "columnAxis": 0, "index": [9, -1, 0, 2],
        "rowStart": 1, "rowCount": 3, "columnStart": -1, "columnCount": 3,
    }  # fmt: skip
    reply = window.window(x, ["B", "D", "L", "N"], args)
    assert (reply["rowAxis"], reply["columnAxis"], reply["index"]) == (2, 0, [0, 5, 0, 2])
    assert (reply["rowStart"], reply["rowCount"]) == (1, 3)
    assert (reply["columnStart"], reply["columnCount"]) == (0, 2)
    np.testing.assert_array_equal(decoded(reply), x[:2, 5, 1:4, 2].T.numpy())
    assert reply["axes"] == ["B", "D", "L", "N"]
    assert reply["summary"]["numel"] == 6
    assert reply["summary"]["max"] == x[:2, 5, 1:4, 2].max()


@pytest.mark.parametrize(
    ("shape", "args", "axes"),
    (
        ((), {}, (-1, -1)),
        ((5,), {}, (-1, 0)),
        ((2, 3), {}, (0, 1)),
        ((2, 3), {"rowAxis": 1}, (1, 0)),
        ((2, 3), {"columnAxis": 0}, (1, 0)),
        ((2, 3, 4), {"columnAxis": 1}, (2, 1)),
    ),
)
def test_default_axes(shape, args, axes) -> None:
    reply = window.window(torch.ones(shape), [], args)
    assert (reply["rowAxis"], reply["columnAxis"]) == axes
    assert decoded(reply).size == math.prod([shape[axis] for axis in axes if axis >= 0])


@pytest.mark.parametrize(
    ("args", "message"),
    (
        ({"rowAxis": 2}, r"There is no axis 2 in a tensor of shape \[2, 3\]; choose -2 to 1."),
        ({"rowAxis": 0, "columnAxis": -2}, r"Axis 0 \(B\) cannot be both rows and columns"),
    ),
)
def test_wrong_axes(args: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        window.window(torch.ones(2, 3), ["B", "D"], args)


@pytest.mark.parametrize("shape", ((0, 3), (3, 0), (0,), (2, 0, 4)))
def test_empty(shape) -> None:
    reply = window.window(torch.ones(shape), [], {})
    assert (reply["rows"], reply["columns"], reply["data"]) == (0, 0, "")


@pytest.mark.parametrize(
    "x",
    (
        torch.arange(6).view(2, 3),
        torch.ones(2, 3, dtype=torch.bool),
        torch.full((2, 3), -2.5, dtype=torch.bfloat16),
        torch.full((2, 3), 3 + 4j),
        torch.ones(1, 1).expand(2, 3),
        torch.full((2, 3), 2.0, requires_grad=True),
        torch.full((2, 3), 2.0).to(torch.float8_e5m2),
    ),
)
def test_dtypes(x: torch.Tensor) -> None:
    values = x.detach().abs() if x.is_complex() else x.detach()
    assert decoded(window.window(x, [], {})).tolist() == values.float().tolist()


def test_what_has_no_grid_says_why() -> None:
    for x, why in (
        (torch.empty(2, 3, device="meta"), "meta: no data"),
        (torch.eye(3).to_sparse(), "of the 3 stored values"),
    ):
        with pytest.raises(ValueError, match=f"no grid to show: {why}"):
            window.window(x, [], {})


def test_window_and_statistics_are_fetched_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way of a device that is waited for, taken here on the CPU."""
    x = random(20, 30)
    with quiet():
        view = torch.Tensor.to(x, torch.float32)
        plain = window._computed(view, 5, 7)
        monkeypatch.setattr(window, "statistics", None)
        fetches = []
        original = window.fetch
        monkeypatch.setattr(window, "fetch", lambda v, t: fetches.append(1) or original(v, t))
        together = window._fetched(window.cells(view, 5, 7, torch), view, torch)
    assert fetches == [1]
    assert together[0] == plain[0]
    assert together[1].histogram == plain[1].histogram
    assert together[1].mean == pytest.approx(plain[1].mean)
    assert ondevice.Waiting().vectors == []
