import { rowMajor, Tensor } from '../tensor/tensor';
import { linear } from './linear';

/**
 * Causal depthwise convolution along the sequence: x (B, D, L), weight (D, 1, W), bias (D) -> y (B, D, L) with
 * y[t] = bias + sum_k weight[k] x[t - (W - 1) + k]; x is 0 before the start.
 */
export function causalConv1d(x: Tensor, weight: Tensor, bias: Tensor | undefined, y: Tensor): void {
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
          sum += weight.data[w + k] * x.data[from + (t - taps + 1 + k) * step];
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
  const [batch, channels, height, width] = image.shape;
  const patch = weight.shape[2];
  const gridH = Math.floor((height - patch) / stride) + 1;
  const gridW = Math.floor((width - patch) / stride) + 1;
  const inner = channels * patch * patch;
  const unfolded = new Float32Array(gridH * gridW * inner);
  for (let b = 0; b < batch; b++) {
    let k = 0;
    for (let i = 0; i < gridH; i++) {
      for (let j = 0; j < gridW; j++) {
        k = unfoldPatch(image, b, i * stride, j * stride, patch, unfolded, k);
      }
    }
    const shape = [1, gridH * gridW, inner];
    const out = new Tensor(y.data, [1, ...y.shape.slice(1)], y.strides, y.offset + b * y.strides[0]);
    const matrix = new Tensor(weight.toArray(), [weight.shape[0], inner]);
    linear(new Tensor(unfolded, shape, rowMajor(shape)), matrix, bias, out);
  }
}

function unfoldPatch(
  x: Tensor,
  b: number,
  top: number,
  left: number,
  patch: number,
  to: Float32Array,
  k: number,
): number {
  for (let c = 0; c < x.shape[1]; c++) {
    for (let i = 0; i < patch; i++) {
      let at =
        x.offset + b * x.strides[0] + c * x.strides[1] + (top + i) * x.strides[2] + left * x.strides[3];
      for (let j = 0; j < patch; j++, at += x.strides[3]) to[k++] = x.data[at];
    }
  }
  return k;
}
