"""`mamba/tensorData`: a 2-D window of a tensor, reduced on its device to what a screen can show.

The rules are those of runtime/kernels/window.ts and windowCells.ts.
"""

from __future__ import annotations

import base64
import ctypes
import math
from collections.abc import Sequence
from typing import NamedTuple

from . import guarded, tensor_ids
from .kinds import readable
from .ondevice import Waiting, fetch
from .quiet import quiet, unreadable
from .statistics import statistics
from .summary import BINS, joined, layout

# No window is larger than this, whatever is asked for.
MAX_CELLS = 2048
# Elements that are reduced in one go.
_BLOCK = 1 << 22


class Span(NamedTuple):
    """A part of an axis, clipped to it."""

    start: int
    count: int


def tensor_data(args: dict) -> dict:
    """The reply to `mamba/tensorData`. Raises ValueError in one sentence."""
    tensor, axes = tensor_ids.find(args["id"], args.get("stop"))
    return {**window(tensor, axes, args), "id": args["id"], "stop": tensor_ids.stop_number()}


METHODS = {"tensorData": tensor_data}


def window(tensor, axes: Sequence[str], args: dict) -> dict:
    """The window of any strided tensor. Raises ValueError in one sentence."""
    reason = unreadable()
    with quiet():
        shape = [int(size) for size in tensor.shape]
        source = readable(tensor)
        if reason or source.data is None or list(source.data.shape) != shape:
            raise ValueError(f"This tensor has no grid to show: {reason or source.note}.")
        return _window(tensor, source, shape, list(axes), args)


def _window(tensor, source, shape: list[int], axes: list[str], args: dict) -> dict:
    row_axis, column_axis = choose_axes(shape, axes, args.get("rowAxis"), args.get("columnAxis"))
    index = fixed_index(shape, args.get("index") or [], row_axis, column_axis)
    empty = 0 in shape
    rows = clip(args.get("rowStart"), args.get("rowCount"), 0 if empty else _size(shape, row_axis))
    columns = clip(
        args.get("columnStart"), args.get("columnCount"), 0 if empty else _size(shape, column_axis)
    )
    view = _view(source.data, row_axis, column_axis, index, rows, columns)
    height = min(rows.count, limit(args.get("maxRows")))
    width = min(columns.count, limit(args.get("maxColumns")))
    data, s = _computed(view, height, width)
    part = {**layout(view), "dtype": layout(tensor)["dtype"], "contiguous": tensor.is_contiguous()}
    return {
        "shape": shape,
        "axes": axes,
        "rowAxis": row_axis,
        "columnAxis": column_axis,
        "index": index,
        "rowStart": rows.start,
        "rowCount": rows.count,
        "columnStart": columns.start,
        "columnCount": columns.count,
        "rows": height,
        "columns": width,
        "reduced": height < rows.count or width < columns.count,
        "data": data,
        "summary": joined(part, s, source),
    }


def choose_axes(shape: list[int], axes: list[str], row, column) -> tuple[int, int]:
    """The drawn axes; -1 for one that a tensor of rank 0 or 1 lacks."""
    rank = len(shape)
    if rank == 0:
        return -1, -1
    column = None if column is None else _resolve(column, shape)
    if rank == 1:
        return -1, 0
    row = None if row is None else _resolve(row, shape)
    if column is None:
        column = rank - 2 if row == rank - 1 else rank - 1
    if row is None:
        row = rank - 1 if column == rank - 2 else rank - 2
    if row == column:
        name = f" ({axes[row]})" if row < len(axes) and axes[row] else ""
        raise ValueError(f"Axis {row}{name} cannot be both rows and columns; choose two axes.")
    return row, column


def _resolve(axis: object, shape: list[int]) -> int:
    rank = len(shape)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise ValueError(
            f"There is no axis {axis} in a tensor of shape {shape}; choose {-rank} to {rank - 1}."
        )
    return axis % rank


def fixed_index(shape: list[int], asked: Sequence, row: int, column: int) -> list[int]:
    """One index per axis, 0 for the drawn ones; negative counts from the end."""
    found = []
    for axis, size in enumerate(shape):
        index = 0 if axis in (row, column) or axis >= len(asked) else whole(asked[axis], 0)
        found.append(max(0, min(index + size if index < 0 else index, size - 1)))
    return found


def _size(shape: list[int], axis: int) -> int:
    return 1 if axis < 0 else shape[axis]


def clip(start, count, size: int) -> Span:
    """The part of an axis that is asked for and there."""
    begin = whole(start, 0)
    end = begin + max(0, whole(count, size - min(begin, 0)))
    first = max(0, min(begin, size))
    return Span(first, max(0, min(end, size) - first))


def limit(cells) -> int:
    """How many cells an axis may have."""
    return max(1, min(whole(cells, MAX_CELLS), MAX_CELLS))


def whole(x: object, otherwise: int) -> int:
    """A finite number rounded down, or a stand-in."""
    if not isinstance(x, (int, float)) or not math.isfinite(x):
        return otherwise
    return math.floor(x)


def _view(tensor, row: int, column: int, index: list[int], rows: Span, columns: Span):
    """The window as a matrix."""
    if tensor.numel() == 0:
        return tensor.reshape(-1)[:0].reshape(0, 0)
    for axis in reversed(range(tensor.dim())):
        if axis not in (row, column):
            tensor = tensor.select(axis, index[axis])
    if row > column:
        tensor = tensor.t()
    if tensor.dim() == 0:
        tensor = tensor.reshape(1, 1)
    elif tensor.dim() == 1:
        tensor = tensor.unsqueeze(0)
    return tensor.narrow(0, *rows).narrow(1, *columns)


def _computed(view, height: int, width: int):
    """The cells in base64 and the statistics of the elements, in one synchronisation."""
    torch = guarded.torch()
    reduced = cells(view, height, width, torch)
    if view.device.type == "cpu":
        return _base64(reduced), statistics(view, BINS)
    return _fetched(reduced, view, torch)


def _fetched(reduced, view, torch):
    waiting = Waiting()
    waiting.add(view, BINS, torch)
    flat = reduced.reshape(-1).to(waiting.vectors[0].dtype)
    fetched, vector = fetch([flat, waiting.vectors[0]], torch)
    return _base64(fetched.float()), waiting.finish(vector)


def cells(matrix, rows: int, columns: int, torch):
    """Cells of a matrix in float32: NaN if one is covered, else the element of largest magnitude.

    Of equal magnitudes the positive one is taken.
    """
    if rows == 0 or columns == 0:
        return torch.empty(rows, columns)
    size = matrix.shape[0]
    lines = []
    group = max(1, _BLOCK // max(1, matrix.shape[1] * -(-size // rows)))
    for first in range(0, rows, group):
        last = min(rows, first + group)
        start, end = first * size // rows, last * size // rows
        part = matrix[start:end].to(torch.float32)
        narrow = _reduced(part, columns, None, torch)
        edges = [i * size // rows - start for i in range(first, last + 1)]
        lines.append(_reduced(narrow.t(), last - first, edges, torch).t())
    # Of equal zeros the positive one; what is joined is a copy.
    return torch.cat(lines).add_(0.0)


def _reduced(x, count: int, edges: list[int] | None, torch):
    """The last axis of a matrix in `count` cells."""
    size = x.shape[1]
    if count == size:
        return x
    if edges is None:
        edges = [i * size // count for i in range(count + 1)]
    longest = max(b - a for a, b in zip(edges, edges[1:]))
    if longest * count == size:
        covered = x.reshape(x.shape[0], count, longest)
    else:
        start = torch.tensor(edges[:-1], device=x.device)[:, None]
        end = torch.tensor(edges[1:], device=x.device)[:, None]
        # The last element of a shorter cell is taken again, which changes nothing.
        index = torch.minimum(start + torch.arange(longest, device=x.device), end - 1)
        covered = x[:, index]
    low, high = torch.aminmax(covered, dim=2)
    return torch.where(high >= -low, high, low)


def _base64(values) -> str:
    """Little-endian float32, without NumPy, which PyTorch may lack."""
    values = values.contiguous()
    raw = ctypes.string_at(values.data_ptr(), values.numel() * 4) if values.numel() else b""
    return base64.b64encode(raw).decode("ascii")
