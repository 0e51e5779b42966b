import type { Tensor } from '../../tensor/tensor';
import { float, type NativeKernels } from './index';
import { operand } from './rows';

/** Elements that a thread takes at once, about. */
const SHARE = 16384;

/** Of each row of x (B, M, K) two numbers: its largest element m, and the sum of e^(x - m). Any strided view. */
export function softmaxSums(simd: NativeKernels, x: Tensor): Float64Array {
  return runSoftmax(simd, x, undefined, 1);
}

/** y = softmax(x) by, over the last axis; (B, M, K), any strided views. */
export function softmax(simd: NativeKernels, x: Tensor, by: number, y: Tensor): void {
  runSoftmax(simd, x, y, by);
}

function runSoftmax(simd: NativeKernels, x: Tensor, y: Tensor | undefined, by: number): Float64Array {
  const [batch, rows, width] = x.shape;
  const sums = simd.memory.allocate(4 * batch * rows);
  try {
    simd.with([x], y ? [y] : [], ({ inputs: [from], outputs: [to] }) => {
      const places = [...operand(from), ...(to ? operand(to) : [0, 0, 0, 0]), sums.byteOffset];
      const job = {
        args: [...places, rows, width, float(by)],
        items: batch * rows,
        grain: Math.ceil(SHARE / Math.max(1, width)),
        scratch: 2 * width,
      };
      simd.run({ kernel: 'softmaxSums', ...job });
      if (to) simd.run({ kernel: 'softmax', ...job });
    });
    return new Float64Array(sums.buffer, sums.byteOffset, 2 * batch * rows).slice();
  } finally {
    simd.memory.release(sums);
  }
}
