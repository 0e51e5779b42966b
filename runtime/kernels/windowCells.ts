import { Tensor, view } from '../tensor/tensor';
import { kernelsFor } from './native/elements';
import { nativeWindowCells } from './native/window';

/**
 * Row-major cells of a matrix, at least one element each: NaN if there is one, else the element of largest
 * magnitude with its sign, the positive one of equals. The kernel does it where rows or columns are contiguous,
 * straight or flipped.
 */
export function windowCells(matrix: Tensor, rows: number, columns: number): Float32Array {
  const simd = kernelsFor(matrix);
  if (!simd?.memory.holds(matrix.data)) return plainWindowCells(matrix, rows, columns);
  if (Math.abs(matrix.strides[1]) === 1) return nativeWindowCells(simd, matrix, rows, columns);
  if (Math.abs(matrix.strides[0]) !== 1) return plainWindowCells(matrix, rows, columns);
  const turned = nativeWindowCells(simd, transposed(matrix), columns, rows);
  return transposed(new Tensor(turned, [columns, rows])).toArray();
}

function transposed(matrix: Tensor): Tensor {
  return matrix.with(view.transpose(matrix, 0, 1));
}

/** Where each of `count` cells begins on an axis, and where the last one ends. */
export function cellEdges(size: number, count: number): Int32Array {
  return Int32Array.from({ length: count + 1 }, (_, i) => Math.floor((i * size) / count));
}

/** The same in plain TypeScript, for any strides. */
export function plainWindowCells(matrix: Tensor, rows: number, columns: number): Float32Array {
  const cells = new Float32Array(rows * columns);
  const { data, shape, strides } = matrix;
  const [rowEdges, edges] = [cellEdges(shape[0], rows), cellEdges(shape[1], columns)];
  for (let row = 0; row < rows; row++) {
    const line = cells.subarray(row * columns, (row + 1) * columns);
    for (let i = rowEdges[row]; i < rowEdges[row + 1]; i++)
      reduceRow(data, matrix.offset + i * strides[0], strides[1], edges, line);
  }
  return cells;
}

/** Joins one row of elements to the cells of a line; a NaN, once in, stays. */
function reduceRow(
  data: Float32Array,
  at: number,
  step: number,
  edges: Int32Array,
  line: Float32Array,
): void {
  for (let c = 0, i = at; c < line.length; c++) {
    let kept = line[c];
    let most = Math.abs(kept);
    for (let left = edges[c + 1] - edges[c]; left > 0; left--, i += step) {
      const x = data[i];
      const size = Math.abs(x);
      if (size > most || (size === most && x > kept) || Number.isNaN(size)) {
        kept = x;
        most = size;
      }
    }
    line[c] = kept;
  }
}
