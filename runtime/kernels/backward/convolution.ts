import { type Tensor, view } from '../../tensor/tensor';
import { causalConv1d } from '../convolution';
import { type NativeKernels, native } from '../native';
import { causalConv1dGradient } from '../native/convolution';
import type { LayerGradients } from './linear';
import { write } from './sum';

/**
 * Gradients of the causal depthwise convolution y[t] = bias + sum_k weight[k] x[t - (W - 1) + k], with x, dy
 * (B, D, L), weight (D, 1, W), bias (D): dx[s] = sum_k weight[k] dy[s + (W - 1) - k],
 * dweight[k] = sum over B and t of dy[t] x[t - (W - 1) + k], dbias = sum over B and t of dy[t].
 */
export function causalConv1dBackward(x: Tensor, weight: Tensor, dy: Tensor, g: LayerGradients): void {
  const simd = native();
  if (simd && areRowMajor(g)) nativeBackward(simd, x, weight, dy, g);
  else plainCausalConv1dBackward(x, weight, dy, g);
}

/** The kernel writes the parameters' gradients in row-major order only. */
function areRowMajor({ dweight, dbias }: LayerGradients): boolean {
  return [dweight, dbias].every((g) => !g || g.contiguous);
}

function nativeBackward(simd: NativeKernels, x: Tensor, weight: Tensor, dy: Tensor, g: LayerGradients): void {
  // Seen from the end, dx is the convolution of dy.
  const flipped = (t: Tensor) => t.with(view.flip(t, 2));
  if (g.dx) causalConv1d(flipped(dy), weight, undefined, flipped(g.dx));
  if (g.dweight || g.dbias) causalConv1dGradient(simd, x, dy, weight.shape[2], g.dweight, g.dbias);
}

/** The same in plain TypeScript. */
export function plainCausalConv1dBackward(x: Tensor, weight: Tensor, dy: Tensor, g: LayerGradients): void {
  const [batch, channels] = x.shape;
  const taps = weight.shape[2];
  const weightSums = new Float64Array(channels * taps);
  const biasSums = new Float64Array(channels);
  for (let b = 0; b < batch; b++) {
    for (let d = 0; d < channels; d++) {
      if (g.dx) inputRow(weight, dy, g.dx, b, d);
      const sums = weightSums.subarray(d * taps, (d + 1) * taps);
      biasSums[d] += weightRow(x, dy, b, d, sums);
    }
  }
  if (g.dweight) write(weightSums, g.dweight);
  if (g.dbias) write(biasSums, g.dbias);
}

const rowOf = (x: Tensor, b: number, d: number) => x.offset + b * x.strides[0] + d * x.strides[1];

function inputRow(weight: Tensor, dy: Tensor, dx: Tensor, b: number, d: number): void {
  const taps = weight.shape[2];
  const length = dy.shape[2];
  const [from, to] = [rowOf(dy, b, d), rowOf(dx, b, d)];
  const w = weight.offset + d * weight.strides[0];
  for (let s = 0; s < length; s++) {
    let sum = 0;
    for (let k = Math.max(0, taps - length + s); k < taps; k++) {
      sum += weight.data[w + k * weight.strides[2]] * dy.data[from + (s + taps - 1 - k) * dy.strides[2]];
    }
    dx.data[to + s * dx.strides[2]] = sum;
  }
}

/** Adds one channel of one batch element to the sums per tap; gives the sum of dy. */
function weightRow(x: Tensor, dy: Tensor, b: number, d: number, sums: Float64Array): number {
  const taps = sums.length;
  const [from, above] = [rowOf(x, b, d), rowOf(dy, b, d)];
  let total = 0;
  for (let t = 0; t < dy.shape[2]; t++) {
    const slope = dy.data[above + t * dy.strides[2]];
    total += slope;
    for (let k = Math.max(0, taps - 1 - t); k < taps; k++) {
      sums[k] += slope * x.data[from + (t - taps + 1 + k) * x.strides[2]];
    }
  }
  return total;
}
