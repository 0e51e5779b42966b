import { Tensor } from '../tensor/tensor';
import { linear } from './linear';
import { native } from './native';
import { causalConv1d as convolve } from './native/convolution';
import { withUnfolded } from './patches';

/**
 * Causal depthwise convolution along the sequence: x (B, D, L), weight (D, 1, W), bias (D) -> y (B, D, L) with
 * y[t] = bias + sum_k weight[k] x[t - (W - 1) + k]; x is 0 before the start.
 */
export function causalConv1d(x: Tensor, weight: Tensor, bias: Tensor | undefined, y: Tensor): void {
  const simd = native();
  if (simd) convolve(simd, x, weight, bias, y);
  else plainCausalConv1d(x, weight, bias, y);
}

/** The same in plain TypeScript. */
export function plainCausalConv1d(x: Tensor, weight: Tensor, bias: Tensor | undefined, y: Tensor): void {
  const [batch, channels, length] = x.shape;
  const taps = weight.shape[2];
  const step = x.strides[2];
  const stepOut = y.strides[2];
  for (let b = 0; b < batch; b++) {
    for (let d = 0; d < channels; d++) {
      const from = x.offset + b * x.strides[0] + d * x.strides[1];
      const to = y.offset + b * y.strides[0] + d * y.strides[1];
      const w = weight.offset + d * weight.strides[0];
      const start = bias ? bias.at(d) : 0;
      for (let t = 0; t < length; t++) {
        let sum = start;
        for (let k = Math.max(0, taps - 1 - t); k < taps; k++) {
          sum += weight.data[w + k * weight.strides[2]] * x.data[from + (t - taps + 1 + k) * step];
        }
        y.data[to + t * stepOut] = sum;
      }
    }
  }
}

/**
 * Patch embedding: image (B, C, H, W), weight (E, C, P, P), bias (E) -> y (B, gridH * gridW, E), patches in row
 * order. A convolution of patch size P and the given stride, done as a matrix product over unfolded patches.
 */
export function patchConvolution(
  image: Tensor,
  weight: Tensor,
  bias: Tensor | undefined,
  y: Tensor,
  stride: number,
): void {
  const [embed, channels, size] = weight.shape;
  const matrix = new Tensor(weight.toArray(), [embed, channels * size * size]);
  withUnfolded(image, { size, stride }, (patches) => linear(patches, matrix, bias, y));
}
