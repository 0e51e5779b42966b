import { describe, expect, test } from 'vitest';
import { summarize } from '../../../runtime/kernels/summary';
import { type TensorWindow, type WindowArguments, windowOf } from '../../../runtime/kernels/window';
import { Tensor, view } from '../../../runtime/tensor/tensor';

const NAN = Number.NaN;
const INF = Number.POSITIVE_INFINITY;

function counting(shape: number[]): Tensor {
  const n = shape.reduce((a, b) => a * b, 1);
  return new Tensor(
    Float32Array.from({ length: n }, (_, i) => i),
    shape,
    undefined,
    0,
    'float32',
    [],
  );
}

/** The cells as rows, read back from the reply the way a view does. */
function cells(w: TensorWindow): number[][] {
  const bytes = Uint8Array.from(atob(w.data), (c) => c.charCodeAt(0));
  const flat = new DataView(bytes.buffer);
  return Array.from({ length: w.rows }, (_, r) =>
    Array.from({ length: w.columns }, (_, c) => flat.getFloat32(4 * (r * w.columns + c), true)),
  );
}

function cellsOf(t: Tensor, args: WindowArguments = {}): number[][] {
  return cells(windowOf(t, args));
}

describe('windowOf: axes', () => {
  const t = counting([2, 3, 4]);

  test('draws the last two axes at index 0 by default', () => {
    const w = windowOf(t, {});
    expect(w).toMatchObject({
      shape: [2, 3, 4],
      rowAxis: 1,
      columnAxis: 2,
      index: [0, 0, 0],
      reduced: false,
    });
    expect(cells(w)).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [8, 9, 10, 11],
    ]);
  });

  test('takes any two axes, negative ones from the end', () => {
    expect(cellsOf(t, { rowAxis: 2, columnAxis: 0, index: [9, 2, 9] })).toEqual([
      [8, 20],
      [9, 21],
      [10, 22],
      [11, 23],
    ]);
    expect(windowOf(t, { rowAxis: -3, columnAxis: -2 })).toMatchObject({ rowAxis: 0, columnAxis: 1 });
  });

  test('gives the other axis its place when only one is named', () => {
    expect(windowOf(t, { rowAxis: 2 })).toMatchObject({ rowAxis: 2, columnAxis: 1 });
    expect(windowOf(t, { columnAxis: 1 })).toMatchObject({ rowAxis: 2, columnAxis: 1 });
    expect(windowOf(t, { columnAxis: 0 })).toMatchObject({ rowAxis: 1, columnAxis: 0 });
  });

  test('refuses axes that do not exist or coincide, in one sentence', () => {
    expect(() => windowOf(t, { rowAxis: 3 })).toThrow(
      new RangeError('There is no axis 3 in a tensor of shape [2, 3, 4]; choose -3 to 2.'),
    );
    expect(() => windowOf(t, { columnAxis: 0.5 })).toThrow(RangeError);
    const named = new Tensor(t.data, t.shape, t.strides, 0, 'float32', ['B', 'D', 'L']);
    expect(() => windowOf(named, { rowAxis: 1, columnAxis: -2 })).toThrow(
      new RangeError('Axis 1 (D) cannot be both rows and columns; choose two axes.'),
    );
  });

  test('clips fixed indices to the tensor', () => {
    expect(windowOf(t, { index: [7] }).index).toEqual([1, 0, 0]);
    expect(windowOf(t, { index: [-1, 5, 5] }).index).toEqual([1, 0, 0]);
    expect(windowOf(t, { index: [-9] }).index).toEqual([0, 0, 0]);
    expect(windowOf(t, { index: [NAN] }).index).toEqual([0, 0, 0]);
  });

  test('shows rank 1 as a row and rank 0 as a cell', () => {
    const row = windowOf(counting([3]), { rowAxis: -2 });
    expect(row).toMatchObject({ rowAxis: -1, columnAxis: 0, index: [0], rows: 1, columns: 3 });
    expect(cells(row)).toEqual([[0, 1, 2]]);
    const cell = windowOf(Tensor.scalar(7), {});
    expect(cell).toMatchObject({ shape: [], rowAxis: -1, columnAxis: -1, index: [], rows: 1, columns: 1 });
    expect(cells(cell)).toEqual([[7]]);
  });
});

describe('windowOf: window', () => {
  const t = counting([6, 8]);

  test('clips to the tensor', () => {
    expect(cellsOf(t, { rowStart: 4, rowCount: 9, columnStart: 6, columnCount: 1 })).toEqual([[38], [46]]);
    expect(windowOf(t, { rowStart: -2, rowCount: 3 })).toMatchObject({ rowStart: 0, rowCount: 1 });
    expect(windowOf(t, { rowStart: 99 })).toMatchObject({ rowStart: 6, rowCount: 0, rows: 0, data: '' });
    expect(windowOf(t, { columnCount: -1 })).toMatchObject({ columnCount: 0, columns: 0 });
    expect(windowOf(t, { rowStart: NAN, rowCount: INF })).toMatchObject({ rowStart: 0, rowCount: 6 });
  });

  test('of an empty tensor is empty', () => {
    for (const shape of [[0], [3, 0], [0, 3, 4]])
      expect(windowOf(counting(shape), {})).toMatchObject({ rowCount: 0, columnCount: 0, data: '' });
  });

  test('sums up the elements of the window, and calls it as contiguous as the tensor is', () => {
    const w = windowOf(t, { rowStart: 1, rowCount: 2, columnStart: 2, columnCount: 3, maxRows: 1 });
    const part = t.with(view.slice(view.slice(t, 0, 1, 3), 1, 2, 5));
    expect(w.summary).toEqual({ ...summarize(part), contiguous: true });
    const flipped = t.with(view.flip(t, 1));
    expect(windowOf(flipped, {}).summary.contiguous).toBe(false);
  });

  test('reads strided, flipped and expanded tensors', () => {
    expect(cellsOf(t.with(view.flip(view.transpose(t, 0, 1), 1)), { rowCount: 1 })).toEqual([
      [40, 32, 24, 16, 8, 0],
    ]);
    expect(cellsOf(new Tensor(Float32Array.of(1, 2), [2, 3], [1, 0]))).toEqual([
      [1, 1, 1],
      [2, 2, 2],
    ]);
  });
});

describe('windowOf: reduction', () => {
  test('keeps the largest magnitude with its sign', () => {
    const t = new Tensor(Float32Array.of(1, -5, 2, 3, 4, -1, 0, 0), [2, 4]);
    const w = windowOf(t, { maxRows: 1, maxColumns: 2 });
    expect(w).toMatchObject({ rows: 1, columns: 2, rowCount: 2, columnCount: 4, reduced: true });
    expect(cells(w)).toEqual([[-5, 3]]);
  });

  test('shows NaN before Inf before numbers', () => {
    const t = new Tensor(Float32Array.of(NAN, INF, 1, -INF, 9, NAN, 7, 8), [8]);
    expect(cellsOf(t, { maxColumns: 4 })).toEqual([[NAN, -INF, NAN, 8]]);
  });

  test('shares uneven sizes out without a gap, never above 2048', () => {
    const t = new Tensor(
      Float32Array.from({ length: 5000 }, (_, i) => i + 1),
      [5000],
    );
    const w = windowOf(t, { maxColumns: 100_000 });
    expect(w.columns).toBe(2048);
    const row = cells(w)[0];
    expect(row.at(-1)).toBe(5000);
    row.forEach((x, c) => {
      expect(x).toBe(Math.floor(((c + 1) * 5000) / 2048));
    });
    expect(windowOf(t, { maxColumns: 0 }).columns).toBe(1);
  });

  test('equals a plain reduction of random tensors', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const shape = [1 + (seed % 7), 1 + ((seed * 5) % 11), 1 + ((seed * 3) % 13)];
      const n = shape[0] * shape[1] * shape[2];
      const t = new Tensor(
        Float32Array.from({ length: n }, (_, i) => Math.sin(i * seed) * 10),
        shape,
      );
      const args = { rowAxis: seed % 3, columnAxis: (seed + 1) % 3, maxRows: 1 + (seed % 4), maxColumns: 3 };
      const w = windowOf(t, args);
      const at = (r: number, c: number) =>
        t.at(...shape.map((_, axis) => (axis === w.rowAxis ? r : axis === w.columnAxis ? c : w.index[axis])));
      cells(w).forEach((line, r) => {
        line.forEach((cell, c) => {
          const [r0, r1] = [r, r + 1].map((k) => Math.floor((k * w.rowCount) / w.rows));
          const [c0, c1] = [c, c + 1].map((k) => Math.floor((k * w.columnCount) / w.columns));
          const covered: number[] = [];
          for (let i = r0; i < r1; i++) for (let j = c0; j < c1; j++) covered.push(at(i, j));
          const most = covered.reduce((a, x) => (Math.abs(x) > Math.abs(a) ? x : a));
          expect(cell).toBe(most);
        });
      });
    }
  });
});
