/** Tensors as a target would describe them. */
import type { TensorDataResponse, TensorEntry } from '../../../src/protocol/requests';
import type { Summary } from '../../../src/protocol/summary';

export function summaryOf(change: Partial<Summary> = {}): Summary {
  const shape = change.shape ?? [1, 4, 3];
  return {
    dtype: 'float32',
    device: 'cpu',
    shape,
    strides: [12, 3, 1],
    contiguous: true,
    numel: shape.reduce((n, size) => n * size, 1),
    nan: 0,
    posInf: 0,
    negInf: 0,
    zeros: 0,
    min: -1,
    max: 3,
    mean: 0.5,
    std: 1,
    absmax: 3,
    histogram: [1, 2, 4, 2],
    ...change,
  };
}

export function entryOf(name: string, change: Partial<TensorEntry> = {}): TensorEntry {
  return {
    id: `id of ${name}`,
    name,
    role: 'scan',
    site: { module: 'layers.0.mixer', op: 'selective_scan', direction: 'forward' },
    axes: ['B', 'D', 'L'],
    summary: summaryOf(),
    ...change,
  };
}

/** A reply whose cells are `cells`, drawn without reduction. */
export function replyOf(
  cells: number[],
  rows: number,
  columns: number,
  change: Partial<TensorDataResponse> = {},
) {
  const bytes = new Uint8Array(Float32Array.from(cells).buffer);
  return {
    id: 'v1',
    stop: 1,
    shape: [rows, columns],
    axes: ['D', 'L'],
    rowAxis: 0,
    columnAxis: 1,
    index: [0, 0],
    rowStart: 0,
    rowCount: rows,
    columnStart: 0,
    columnCount: columns,
    rows,
    columns,
    reduced: false,
    data: btoa(String.fromCharCode(...bytes)),
    summary: summaryOf({ shape: [rows, columns] }),
    ...change,
  } satisfies TensorDataResponse;
}
