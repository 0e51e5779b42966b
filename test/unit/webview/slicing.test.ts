import { describe, expect, it } from 'vitest';
import {
  cellCount,
  clampIndex,
  defaultSlice,
  fitSlice,
  fitWindow,
  freeAxes,
  fullWindow,
  isWhole,
  pageWindow,
  pictureArguments,
  valuesArguments,
  withAxis,
} from '../../../webview/tensors/slicing';

const SHAPE = [2, 384, 197];

describe('a slice', () => {
  it.each([
    [[], null, null],
    [[5], null, 0],
    [[5, 6], 0, 1],
    [[2, 3, 4, 7, 7, 12], 4, 5],
  ])('of %j draws the last axes', (shape, rowAxis, columnAxis) => {
    expect(defaultSlice(shape)).toEqual({ rowAxis, columnAxis, index: shape.map(() => 0) });
  });

  it('is kept for another tensor as far as it fits', () => {
    const slice = { rowAxis: 0, columnAxis: 2, index: [1, 300, 0] };
    expect(fitSlice(slice, [2, 100, 197])).toEqual({ rowAxis: 0, columnAxis: 2, index: [1, 99, 0] });
    expect(fitSlice(slice, [4, 4])).toEqual(defaultSlice([4, 4]));
    expect(fitSlice({ rowAxis: 1, columnAxis: 1, index: [0, 0, 0] }, SHAPE)).toEqual(defaultSlice(SHAPE));
    expect(fitSlice(undefined, [3])).toEqual(defaultSlice([3]));
  });

  it('never draws one axis twice', () => {
    const slice = defaultSlice(SHAPE);
    expect(withAxis(slice, 'rowAxis', 2)).toMatchObject({ rowAxis: 2, columnAxis: 1 });
    expect(withAxis(slice, 'columnAxis', 0)).toMatchObject({ rowAxis: 1, columnAxis: 0 });
  });

  it('has an index control for every other axis that has a choice', () => {
    expect(freeAxes(defaultSlice(SHAPE), SHAPE)).toEqual([0]);
    expect(freeAxes(defaultSlice([1, 3, 4, 5]), [1, 3, 4, 5])).toEqual([1]);
  });

  it.each([
    [5, 3, 2],
    [-1, 3, 0],
    [1.4, 3, 1],
    [Number.NaN, 3, 0],
    [4, 0, 0],
  ])('index %d of %d is %d', (index, size, expected) => expect(clampIndex(index, size)).toBe(expected));
});

describe('a window', () => {
  const slice = defaultSlice(SHAPE);
  it('is the whole plane unless zoomed', () => {
    const full = { rowStart: 0, rowCount: 384, columnStart: 0, columnCount: 197 };
    expect(fitWindow(undefined, slice, SHAPE)).toEqual(full);
    expect(isWhole(full, slice, SHAPE)).toBe(true);
    expect(fullWindow(defaultSlice([]), [])).toEqual({
      rowStart: 0,
      rowCount: 1,
      columnStart: 0,
      columnCount: 1,
    });
  });
  it('is cut to another tensor, or dropped', () => {
    const zoom = { rowStart: 100, rowCount: 50, columnStart: 10, columnCount: 20 };
    expect(fitWindow(zoom, slice, [2, 120, 197])).toEqual({ ...zoom, rowCount: 20 });
    expect(fitWindow(zoom, slice, [2, 90, 197]).rowCount).toBe(90);
  });
  it('pages hold their element', () => {
    expect(pageWindow(383, 40, slice, SHAPE)).toEqual({
      rowStart: 352,
      rowCount: 32,
      columnStart: 32,
      columnCount: 32,
    });
    expect(pageWindow(9999, 196, slice, SHAPE)).toMatchObject({
      rowStart: 352,
      columnStart: 192,
      columnCount: 5,
    });
  });
});

describe('requests', () => {
  it('ask for cells that cover a whole number of elements', () => {
    expect(cellCount(384, 420)).toBe(384);
    expect(cellCount(384, 300)).toBe(192);
    expect(cellCount(197, 100)).toBe(99);
    expect(cellCount(100_000, 5000)).toBeLessThanOrEqual(2048);
    expect(cellCount(0, 100)).toBe(1);
    expect(cellCount(10, 0)).toBe(1);
  });
  it('leave out the axes that a tensor lacks', () => {
    const args = valuesArguments(
      { id: 'v1', stop: 3 },
      defaultSlice([7]),
      fullWindow(defaultSlice([7]), [7]),
    );
    expect(args).toEqual({
      id: 'v1',
      stop: 3,
      columnAxis: 0,
      index: [0],
      rowStart: 0,
      rowCount: 1,
      columnStart: 0,
      columnCount: 7,
      maxRows: 1,
      maxColumns: 7,
    });
  });
  it('for pictures are as large as there is room', () => {
    const slice = defaultSlice(SHAPE);
    const args = pictureArguments({ id: 'v1', stop: 3 }, slice, fullWindow(slice, SHAPE), {
      rows: 200,
      columns: 260,
    });
    expect(args).toMatchObject({ rowAxis: 1, columnAxis: 2, maxRows: 192, maxColumns: 197 });
  });
});
