import type { Tensor } from '../../tensor/tensor';
import { address, contiguous, type NativeKernels } from './index';
import { operand } from './rows';

/** Steps of time that a thread takes at once, about. */
const SHARE = 16384;

/** y (B, D, L) = x (B, D, L) convolved with weight (D, 1, W), plus bias (D). x and y may be any strided view. */
export function causalConv1d(
  simd: NativeKernels,
  x: Tensor,
  weight: Tensor,
  bias: Tensor | undefined,
  y: Tensor,
): void {
  const [batch, channels, length] = x.shape;
  const parameters = [weight, ...(bias ? [bias] : [])].map(contiguous);
  simd.with([x, ...parameters], [y], ({ inputs: [from, w, b], outputs: [to] }) => {
    simd.run({
      kernel: 'causalConv1d',
      args: [...operand(from), ...operand(to), address(w), address(b), channels, length, weight.shape[2]],
      items: batch * channels,
      grain: grainOf(length),
      scratch: 2 * length,
    });
  });
}

/** dweight (D, 1, W) and dbias (D), both contiguous or absent, from x and dy (B, D, L), any strided views. */
export function causalConv1dGradient(
  simd: NativeKernels,
  x: Tensor,
  dy: Tensor,
  taps: number,
  dweight: Tensor | undefined,
  dbias: Tensor | undefined,
): void {
  const [batch, channels, length] = x.shape;
  const sums = [dweight, dbias].filter((y) => y !== undefined);
  simd.with([x, dy], sums, ({ inputs, outputs }) => {
    const toWeight = dweight && outputs[0];
    const toBias = dbias && outputs.at(-1);
    simd.run({
      kernel: 'causalConv1dGradient',
      args: [...inputs.flatMap(operand), address(toWeight), address(toBias), batch, length, taps],
      items: channels,
      grain: grainOf(batch * length),
      scratch: 2 * (taps + 1) + 2 * length,
    });
  });
}

function grainOf(length: number): number {
  return Math.ceil(SHARE / Math.max(1, length));
}
