import type { Tensor } from '../tensor/tensor';
import { native } from './native';
import { rope as turn } from './native/rope';

/**
 * Rotary position embedding over pairs of features (Su et al. 2021), as Vim applies it to patches:
 * x (B, M, E) with an even E, cos and sin (M', E). With an odd M the first token (the class token) is left as it is.
 */
export function rope(x: Tensor, cos: Tensor, sin: Tensor, y: Tensor): void {
  const simd = native();
  if (simd) turn(simd, x, { cos, sin }, y, false);
  else plainRope(x, cos, sin, y);
}

/** The same in plain TypeScript. */
export function plainRope(x: Tensor, cos: Tensor, sin: Tensor, y: Tensor): void {
  const [batch, tokens, width] = x.shape;
  const first = tokens % 2;
  for (let b = 0; b < batch; b++) {
    for (let m = 0; m < tokens; m++) {
      const from = x.offset + b * x.strides[0] + m * x.strides[1];
      const to = y.offset + b * y.strides[0] + m * y.strides[1];
      for (let k = 0; k < width; k++) {
        const value = x.data[from + k * x.strides[2]];
        if (m < first) y.data[to + k * y.strides[2]] = value;
        else {
          const pair = x.data[from + (k ^ 1) * x.strides[2]];
          const rotated = k % 2 === 0 ? -pair : pair;
          y.data[to + k * y.strides[2]] = value * cos.at(m - first, k) + rotated * sin.at(m - first, k);
        }
      }
    }
  }
}

/** cos and sin of the angles for a square grid of `grid` x `grid` patches and `width` features, as (grid^2, width). */
export function ropeTables(
  width: number,
  pretrainedGrid: number,
  grid: number,
): { cos: Float32Array; sin: Float32Array } {
  const half = width / 2;
  const cos = new Float32Array(grid * grid * width);
  const sin = new Float32Array(grid * grid * width);
  for (let m = 0; m < grid * grid; m++) {
    for (let k = 0; k < width; k++) {
      const position = k < half ? Math.floor(m / grid) : m % grid;
      const pair = Math.floor((k % half) / 2);
      const angle = ((position / grid) * pretrainedGrid) / 10000 ** ((2 * pair) / half);
      cos[m * width + k] = Math.cos(angle);
      sin[m * width + k] = Math.sin(angle);
    }
  }
  return { cos, sin };
}
