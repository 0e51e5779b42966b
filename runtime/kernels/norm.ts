import type { Tensor } from '../tensor/tensor';
import { native } from './native';
import { norm } from './native/norm';

/** RMSNorm over the last axis: y = x / sqrt(mean(x^2) + eps) * weight (Zhang & Sennrich 2019). */
export function rmsNorm(x: Tensor, weight: Tensor, bias: Tensor | undefined, eps: number, y: Tensor): void {
  const simd = native();
  if (simd) norm(simd, { x, weight, eps, centered: false }, bias, y);
  else plainRmsNorm(x, weight, bias, eps, y);
}

/** LayerNorm over the last axis: y = (x - mean) / sqrt(var + eps) * weight + bias (Ba et al. 2016). */
export function layerNorm(x: Tensor, weight: Tensor, bias: Tensor | undefined, eps: number, y: Tensor): void {
  const simd = native();
  if (simd) norm(simd, { x, weight, eps, centered: true }, bias, y);
  else plainLayerNorm(x, weight, bias, eps, y);
}

/** `rmsNorm` in plain TypeScript. */
export function plainRmsNorm(
  x: Tensor,
  weight: Tensor,
  bias: Tensor | undefined,
  eps: number,
  y: Tensor,
): void {
  normRows(x, weight, bias, y, (at, step, length) => {
    let square = 0;
    for (let i = 0; i < length; i++, at += step) square += x.data[at] * x.data[at];
    return [0, 1 / Math.sqrt(square / length + eps)];
  });
}

/** `layerNorm` in plain TypeScript. */
export function plainLayerNorm(
  x: Tensor,
  weight: Tensor,
  bias: Tensor | undefined,
  eps: number,
  y: Tensor,
): void {
  normRows(x, weight, bias, y, (at, step, length) => {
    let sum = 0;
    for (let i = 0, k = at; i < length; i++, k += step) sum += x.data[k];
    const mean = sum / length;
    let square = 0;
    for (let i = 0, k = at; i < length; i++, k += step) square += (x.data[k] - mean) ** 2;
    return [mean, 1 / Math.sqrt(square / length + eps)];
  });
}

type RowMoments = (at: number, step: number, length: number) => [shift: number, scale: number];

function normRows(x: Tensor, weight: Tensor, bias: Tensor | undefined, y: Tensor, moments: RowMoments): void {
  const [batch, rows, width] = x.shape;
  const w = weight.toArray();
  const b = bias?.toArray();
  for (let i = 0; i < batch; i++) {
    for (let r = 0; r < rows; r++) {
      const from = x.offset + i * x.strides[0] + r * x.strides[1];
      const to = y.offset + i * y.strides[0] + r * y.strides[1];
      const [shift, scale] = moments(from, x.strides[2], width);
      for (let k = 0; k < width; k++) {
        const value = (x.data[from + k * x.strides[2]] - shift) * scale * w[k];
        y.data[to + k * y.strides[2]] = b ? value + b[k] : value;
      }
    }
  }
}
