import type { Tensor } from '../../tensor/tensor';
import { address, contiguous, float, type NativeKernels } from './index';
import { operand } from './rows';

/** RMSNorm, or LayerNorm if `centered`, of x (B, M, E) over its last axis. */
export interface Norm {
  x: Tensor;
  /** (E) */
  weight: Tensor;
  eps: number;
  centered: boolean;
}

/** Rows whose sums are kept together. */
const SHARE = 32;
/** Floats that hold the moments of a row. */
const MOMENTS = 4;

/** y (B, M, E) = norm of x, times weight, plus bias (E). x and y may be any strided view. */
export function norm(simd: NativeKernels, n: Norm, bias: Tensor | undefined, y: Tensor): void {
  const [batch, rows, width] = n.x.shape;
  const parameters = [n.weight, ...(bias ? [bias] : [])].map(contiguous);
  simd.with([n.x, ...parameters], [y], ({ inputs: [x, w, b], outputs: [to] }) => {
    simd.run({
      kernel: 'norm',
      args: [...common(x, to, w, n), address(b)],
      items: batch * rows,
      grain: SHARE,
      scratch: 2 * width + MOMENTS,
    });
  });
}

/** Sums over all rows, (E) each: of dy times the norm of x, and of dy. */
export interface NormSums {
  weight: Float64Array;
  bias: Float64Array;
}

/** Writes dx where it is given, and gives the gradients of weight and bias. x, dy and dx may be any strided view. */
export function normGradient(simd: NativeKernels, n: Norm, dy: Tensor, dx: Tensor | undefined): NormSums {
  const [batch, rows, width] = n.x.shape;
  const shares = Math.ceil((batch * rows) / SHARE);
  // Two sums of each share in float64.
  const sums = simd.memory.allocate(4 * width * shares);
  try {
    simd.with([n.x, contiguous(n.weight), dy], dx ? [dx] : [], ({ inputs: [x, w, above], outputs: [to] }) => {
      const place = [...operand(above), sums.byteOffset, SHARE, batch * rows];
      simd.run({
        kernel: 'normGradient',
        args: [...common(x, to, w, n), 0, ...place],
        items: shares,
        grain: 1,
        scratch: 3 * width + MOMENTS,
      });
    });
    const total = totalOf(new Float64Array(sums.buffer, sums.byteOffset, 2 * width * shares), 2 * width);
    return { weight: total.subarray(0, width), bias: total.subarray(width) };
  } finally {
    simd.memory.release(sums);
  }
}

/** What the arguments of both passes begin with. `y` may be absent in the backward pass. */
function common(x: Tensor, y: Tensor | undefined, weight: Tensor, { eps, centered }: Norm): number[] {
  const [, rows, width] = x.shape;
  const to = y ? operand(y) : [0, 0, 0, 0];
  return [...operand(x), ...to, address(weight), rows, width, centered ? 1 : 0, float(eps)];
}

/** The sum of all rows of a given width, in their order. */
function totalOf(rows: Float64Array, width: number): Float64Array {
  const total = new Float64Array(width);
  for (let at = 0; at < rows.length; at += width) {
    for (let k = 0; k < width; k++) total[k] += rows[at + k];
  }
  return total;
}
