import { type Tensor, view } from '../../tensor/tensor';
import { cellEdges } from '../windowCells';
import { address, type NativeKernels } from './index';

/** Columns of a strip of the kernel, and the words of scratch before it. */
const STRIP = 1024;
const SINK = 4;

/** Cells of a matrix in the kernels' memory whose rows are contiguous, straight or flipped. */
export function nativeWindowCells(
  simd: NativeKernels,
  matrix: Tensor,
  rows: number,
  columns: number,
): Float32Array {
  const isFlipped = matrix.strides[1] < 0;
  const straight = isFlipped ? matrix.with(view.flip(matrix, 1)) : matrix;
  const edges = cellEdges(matrix.shape[1], columns);
  const columnEdges = isFlipped ? edges.map((edge) => matrix.shape[1] - edge).reverse() : edges;
  const cells = reduced(simd, straight, cellEdges(matrix.shape[0], rows), columnEdges);
  if (isFlipped)
    for (let row = 0; row < rows; row++) cells.subarray(row * columns, (row + 1) * columns).reverse();
  return cells;
}

function reduced(
  simd: NativeKernels,
  matrix: Tensor,
  rowEdges: Int32Array,
  columnEdges: Int32Array,
): Float32Array {
  const [rows, columns] = [rowEdges.length - 1, columnEdges.length - 1];
  const edges = simd.memory.allocate(rowEdges.length + columnEdges.length);
  const out = simd.memory.allocate(rows * columns);
  try {
    const words = new Int32Array(edges.buffer, edges.byteOffset, edges.length);
    words.set(rowEdges);
    words.set(columnEdges, rowEdges.length);
    const [atRows, atColumns] = [edges.byteOffset, edges.byteOffset + 4 * rowEdges.length];
    simd.run({
      kernel: 'reduceWindow',
      args: [address(matrix), 4 * matrix.strides[0], atRows, atColumns, columns, out.byteOffset],
      items: rows,
      grain: 1,
      scratch: SINK + 2 * STRIP + 2 * columns,
    });
    return out.slice();
  } finally {
    simd.memory.release(edges);
    simd.memory.release(out);
  }
}
