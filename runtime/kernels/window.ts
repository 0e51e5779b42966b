import type { TensorDataArguments, TensorDataResponse } from '../../src/protocol/requests';
import type { Summary } from '../../src/protocol/summary';
import { isContiguous, type Tensor } from '../tensor/tensor';
import { summarize } from './summary';
import { windowCells } from './windowCells';

export type WindowArguments = Omit<TensorDataArguments, 'id' | 'stop'>;
export type TensorWindow = Omit<TensorDataResponse, 'id' | 'stop'>;

/** No window is larger than this, whatever is asked for. */
const MAX_CELLS = 2048;

/** A part of an axis, clipped to it. */
interface Span {
  start: number;
  count: number;
}

/**
 * A 2-D window of a tensor, reduced to at most `maxRows` x `maxColumns` cells; a cell holds the element of
 * largest magnitude with its sign (the positive one of equals), and NaN before any number. The cost is that of the window, not of the
 * tensor. `rowAxis` and `columnAxis` of the reply are -1 for the axis that a tensor of rank 0 or 1 lacks:
 * rank 1 is one row, rank 0 one cell. Windows and fixed indices are clipped to the tensor.
 *
 * @throws RangeError in one sentence when an axis does not exist or is asked for twice.
 */
export function windowOf(tensor: Tensor, args: WindowArguments): TensorWindow {
  const { rowAxis, columnAxis } = chooseAxes(tensor, args);
  const index = fixedIndex(tensor, args.index ?? [], rowAxis, columnAxis);
  const empty = tensor.numel === 0;
  const rows = clip(args.rowStart, args.rowCount, empty ? 0 : sizeOf(tensor, rowAxis));
  const columns = clip(args.columnStart, args.columnCount, empty ? 0 : sizeOf(tensor, columnAxis));
  const view = windowView(tensor, { rowAxis, columnAxis, index, rows, columns });
  const height = Math.min(rows.count, limit(args.maxRows));
  const width = Math.min(columns.count, limit(args.maxColumns));
  return {
    shape: [...tensor.shape],
    axes: [...tensor.axes],
    rowAxis,
    columnAxis,
    index,
    rowStart: rows.start,
    rowCount: rows.count,
    columnStart: columns.start,
    columnCount: columns.count,
    rows: height,
    columns: width,
    reduced: height < rows.count || width < columns.count,
    data: base64(windowCells(view, height, width)),
    summary: windowSummary(tensor, view),
  };
}

function chooseAxes(tensor: Tensor, args: WindowArguments): { rowAxis: number; columnAxis: number } {
  const { rank } = tensor;
  if (rank === 0) return { rowAxis: -1, columnAxis: -1 };
  const column = args.columnAxis === undefined ? undefined : resolveAxis(args.columnAxis, tensor);
  if (rank === 1) return { rowAxis: -1, columnAxis: 0 };
  const row = args.rowAxis === undefined ? undefined : resolveAxis(args.rowAxis, tensor);
  const columnAxis = column ?? (row === rank - 1 ? rank - 2 : rank - 1);
  const rowAxis = row ?? (columnAxis === rank - 2 ? rank - 1 : rank - 2);
  if (rowAxis === columnAxis)
    throw new RangeError(
      `Axis ${axisText(tensor, rowAxis)} cannot be both rows and columns; choose two axes.`,
    );
  return { rowAxis, columnAxis };
}

function resolveAxis(axis: number, tensor: Tensor): number {
  const { rank, shape } = tensor;
  if (!Number.isInteger(axis) || axis < -rank || axis >= rank)
    throw new RangeError(
      `There is no axis ${axis} in a tensor of shape [${shape.join(', ')}]; choose ${-rank} to ${rank - 1}.`,
    );
  return axis < 0 ? axis + rank : axis;
}

function axisText(tensor: Tensor, axis: number): string {
  return tensor.axes[axis] ? `${axis} (${tensor.axes[axis]})` : String(axis);
}

/** One index per axis, 0 for the drawn ones; negative counts from the end. */
function fixedIndex(tensor: Tensor, asked: readonly number[], row: number, column: number): number[] {
  return tensor.shape.map((size, axis) => {
    if (axis === row || axis === column) return 0;
    const index = whole(asked[axis], 0);
    return Math.max(0, Math.min(index < 0 ? index + size : index, size - 1));
  });
}

/** Size of a drawn axis; one that the tensor lacks has one element. */
function sizeOf(tensor: Tensor, axis: number): number {
  return axis < 0 ? 1 : tensor.shape[axis];
}

function clip(start: number | undefined, count: number | undefined, size: number): Span {
  const from = whole(start, 0);
  const to = from + Math.max(0, whole(count, Number.POSITIVE_INFINITY));
  const first = Math.max(0, Math.min(from, size));
  return { start: first, count: Math.max(0, Math.min(to, size) - first) };
}

function limit(cells: number | undefined): number {
  return Math.max(1, Math.min(whole(cells, MAX_CELLS), MAX_CELLS));
}

function whole(x: number | undefined, fallback: number): number {
  return x !== undefined && Number.isFinite(x) ? Math.floor(x) : fallback;
}

function windowView(
  tensor: Tensor,
  w: { rowAxis: number; columnAxis: number; index: number[]; rows: Span; columns: Span },
): Tensor {
  const rowStep = w.rowAxis < 0 ? 0 : tensor.strides[w.rowAxis];
  const columnStep = w.columnAxis < 0 ? 0 : tensor.strides[w.columnAxis];
  const fixed = w.index.reduce((at, i, axis) => at + i * tensor.strides[axis], tensor.offset);
  return tensor.with({
    shape: [w.rows.count, w.columns.count],
    strides: [rowStep, columnStep],
    offset: fixed + w.rows.start * rowStep + w.columns.start * columnStep,
  });
}

/** A window of a contiguous tensor has gaps between its rows; that says nothing about the tensor. */
function windowSummary(tensor: Tensor, view: Tensor): Summary {
  return { ...summarize(view), contiguous: isContiguous(tensor) };
}

function base64(cells: Float32Array): string {
  return Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength).toString('base64');
}
