import type { Tensor } from '../../tensor/tensor';
import { address, contiguous, type NativeKernels } from './index';
import { operand } from './rows';

/** Elements that a thread takes at once, about. */
const SHARE = 16384;

/** Angles of the rotation, (M', E) each. */
export interface Angles {
  cos: Tensor;
  sin: Tensor;
}

/** y = x turned by the angles, or turned back for gradients: (B, M, E) with an even E, any strided views. */
export function rope(
  simd: NativeKernels,
  x: Tensor,
  { cos, sin }: Angles,
  y: Tensor,
  backward: boolean,
): void {
  const [batch, tokens, width] = x.shape;
  simd.with([x, contiguous(cos), contiguous(sin)], [y], ({ inputs: [from, c, s], outputs: [to] }) => {
    simd.run({
      kernel: 'rope',
      args: [...operand(from), ...operand(to), address(c), address(s), tokens, width, backward ? 1 : 0],
      items: batch * tokens,
      grain: Math.ceil(SHARE / width),
      scratch: 2 * width,
    });
  });
}
