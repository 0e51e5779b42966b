/** Which two axes of a tensor are drawn, where the others stand, and what to ask the target for. No DOM. */
import type { TensorDataArguments } from '../../src/protocol/requests';

/** The drawn axes (`null` where the tensor has too few) and one index per axis. */
export interface Slice {
  rowAxis: number | null;
  columnAxis: number | null;
  index: number[];
}

/** A part of the drawn plane, in elements. */
export interface Window {
  rowStart: number;
  rowCount: number;
  columnStart: number;
  columnCount: number;
}

/** More cells than this in one direction are never asked for. */
export const MAX_CELLS = 2048;

export function defaultSlice(shape: readonly number[]): Slice {
  return {
    rowAxis: shape.length >= 2 ? shape.length - 2 : null,
    columnAxis: shape.length >= 1 ? shape.length - 1 : null,
    index: shape.map(() => 0),
  };
}

/** A kept slice made to fit a shape, which may differ from the one it was made for. */
export function fitSlice(slice: Slice | undefined, shape: readonly number[]): Slice {
  const fallback = defaultSlice(shape);
  if (!slice || slice.index.length !== shape.length) return fallback;
  const valid = (axis: number | null) => axis !== null && axis >= 0 && axis < shape.length;
  const keep =
    valid(slice.columnAxis) &&
    (shape.length < 2 || (valid(slice.rowAxis) && slice.rowAxis !== slice.columnAxis));
  return {
    rowAxis: keep && shape.length >= 2 ? slice.rowAxis : fallback.rowAxis,
    columnAxis: keep ? slice.columnAxis : fallback.columnAxis,
    index: shape.map((size, axis) => clampIndex(slice.index[axis], size)),
  };
}

/** A whole number within `0 .. size - 1`; whatever is not a number becomes 0. */
export function clampIndex(index: number, size: number): number {
  if (!Number.isFinite(index)) return 0;
  return Math.min(Math.max(0, Math.round(index)), Math.max(0, size - 1));
}

/** The axes that need an index control: not drawn, and with more than one index. */
export function freeAxes(slice: Slice, shape: readonly number[]): number[] {
  return shape.map((_, axis) => axis).filter((axis) => !isDrawn(slice, axis) && shape[axis] > 1);
}

function isDrawn(slice: Slice, axis: number): boolean {
  return axis === slice.rowAxis || axis === slice.columnAxis;
}

/** Draws `axis` in one direction; the other direction takes over the axis that this one had, if need be. */
export function withAxis(slice: Slice, direction: 'rowAxis' | 'columnAxis', axis: number): Slice {
  const other = direction === 'rowAxis' ? 'columnAxis' : 'rowAxis';
  return { ...slice, [direction]: axis, [other]: slice[other] === axis ? slice[direction] : slice[other] };
}

export function fullWindow(slice: Slice, shape: readonly number[]): Window {
  return {
    rowStart: 0,
    rowCount: slice.rowAxis === null ? 1 : shape[slice.rowAxis],
    columnStart: 0,
    columnCount: slice.columnAxis === null ? 1 : shape[slice.columnAxis],
  };
}

/** A kept window made to fit; the whole plane when nothing of it is left. */
export function fitWindow(window: Window | undefined, slice: Slice, shape: readonly number[]): Window {
  const full = fullWindow(slice, shape);
  if (!window) return full;
  const rowCount = Math.min(window.rowCount, full.rowCount - window.rowStart);
  const columnCount = Math.min(window.columnCount, full.columnCount - window.columnStart);
  return rowCount > 0 && columnCount > 0 && window.rowStart >= 0 && window.columnStart >= 0
    ? { ...window, rowCount, columnCount }
    : full;
}

export function isWhole(window: Window, slice: Slice, shape: readonly number[]): boolean {
  const full = fullWindow(slice, shape);
  return window.rowCount === full.rowCount && window.columnCount === full.columnCount;
}

/** The request for a picture of at most `cells` cells; every cell covers a whole number of elements. */
export function pictureArguments(
  tensor: { id: string; stop: number },
  slice: Slice,
  window: Window,
  cells: { rows: number; columns: number },
): TensorDataArguments {
  return {
    ...planeArguments(tensor, slice, window),
    maxRows: cellCount(window.rowCount, cells.rows),
    maxColumns: cellCount(window.columnCount, cells.columns),
  };
}

/** The request for values one by one. */
export function valuesArguments(
  tensor: { id: string; stop: number },
  slice: Slice,
  window: Window,
): TensorDataArguments {
  return {
    ...planeArguments(tensor, slice, window),
    maxRows: Math.max(1, window.rowCount),
    maxColumns: Math.max(1, window.columnCount),
  };
}

function planeArguments(
  tensor: { id: string; stop: number },
  slice: Slice,
  window: Window,
): TensorDataArguments {
  return {
    id: tensor.id,
    stop: tensor.stop,
    ...(slice.rowAxis === null ? {} : { rowAxis: slice.rowAxis }),
    ...(slice.columnAxis === null ? {} : { columnAxis: slice.columnAxis }),
    index: slice.index,
    ...window,
  };
}

/** How many cells show `count` elements in at most `most` cells of equal size. */
export function cellCount(count: number, most: number): number {
  const limit = Math.max(1, Math.min(MAX_CELLS, Math.floor(most)));
  return Math.max(1, Math.ceil(count / Math.max(1, Math.ceil(count / limit))));
}

/** Values per page of the grid, in each direction. */
export const PAGE = 32;

/** The page that holds an element of the drawn plane. */
export function pageWindow(row: number, column: number, slice: Slice, shape: readonly number[]): Window {
  const full = fullWindow(slice, shape);
  const rowStart = pageStart(row, full.rowCount);
  const columnStart = pageStart(column, full.columnCount);
  return {
    rowStart,
    rowCount: Math.min(PAGE, full.rowCount - rowStart),
    columnStart,
    columnCount: Math.min(PAGE, full.columnCount - columnStart),
  };
}

function pageStart(element: number, count: number): number {
  return Math.floor(clampIndex(element, count) / PAGE) * PAGE;
}
