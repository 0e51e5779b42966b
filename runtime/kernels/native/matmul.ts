import { type Tensor, view } from '../../tensor/tensor';
import { address, contiguous, type NativeKernels } from './index';

/** The kernel's block, and how many rows of B it takes at once. */
const COLUMNS = 8;
const ROWS = 6;
const DEPTH = 512;
/**
 * Floats of A that stay in the second cache. A larger A is cut into rows, and multiplied with several panels of B
 * at once.
 */
const NEAR = 256 * 1024;
const FAR_PANELS = 8;
const FAR_ROWS = 128 * ROWS;

/** C (M, N) = A (M, K) B (K, N) + bias; any strides. The bias belongs to the rows of C or to its columns. */
export interface Product {
  a: Tensor;
  b: Tensor;
  c: Tensor;
  bias?: Tensor;
  biasOf: 'rows' | 'columns';
}

export function matmul(simd: NativeKernels, product: Product): void {
  // A product whose columns lie side by side is the transposed product.
  const { a, b, c, bias, biasOf } = product.c.strides[1] === 1 ? product : transposed(product);
  if (c.strides[1] !== 1) {
    throw new Error('A product needs contiguous rows or columns to write to.');
  }
  simd.with([a, b, ...(bias ? [contiguous(bias)] : [])], [c], ({ inputs, outputs }) => {
    multiply(simd, inputs, outputs[0], biasOf);
  });
}

function multiply(simd: NativeKernels, [a, b, bias]: readonly Tensor[], c: Tensor, biasOf: string): void {
  const [M, K] = a.shape;
  const N = b.shape[1];
  const [panels, rows] = M * K > NEAR ? [FAR_PANELS, FAR_ROWS] : [1, Math.max(1, M)];
  const steps = (x: Tensor) => [4 * x.strides[0], 4 * x.strides[1]];
  const args = [
    address(a),
    ...steps(a),
    address(b),
    ...steps(b),
    address(c),
    4 * c.strides[0],
    address(bias),
    biasOf === 'rows' ? 1 : 0,
    M,
    N,
    K,
    panels,
    rows,
  ];
  simd.run({
    kernel: 'matmul',
    args,
    items: Math.ceil(N / COLUMNS / panels) * Math.ceil(M / rows),
    grain: 1,
    scratch: COLUMNS * (1 + ROWS + panels * Math.min(K, DEPTH)),
  });
}

function transposed({ a, b, c, bias, biasOf }: Product): Product {
  const turn = (x: Tensor) => x.with(view.transpose(x, 0, 1));
  return { a: turn(b), b: turn(a), c: turn(c), bias, biasOf: biasOf === 'rows' ? 'columns' : 'rows' };
}
