import type { Tensor } from '../../tensor/tensor';
import { zip } from '../elementwise';
import { exp } from '../exp';
import { native } from '../native';
import { elementwise } from '../native/rows';

const sigmoid = (x: number): number => 1 / (1 + exp(-x));

/** d silu(x) / dx = s + x s (1 - s) with s = sigmoid(x). */
export function siluSlope(x: number): number {
  const s = sigmoid(x);
  return s * (1 + x * (1 - s));
}

/** d softplus(x) / dx = sigmoid(x); 1 above 20, where softplus is x itself. */
export const softplusSlope = (x: number): number => (x > 20 ? 1 : sigmoid(x));

/** dx = silu'(x) dy, element by element; any strides. */
export function siluBackward(x: Tensor, dy: Tensor, dx: Tensor): void {
  const simd = native();
  if (simd) elementwise(simd, 'siluGradient', [x, dy], dx);
  else plainSiluBackward(x, dy, dx);
}

/** dx = softplus'(x) dy, element by element; any strides. */
export function softplusBackward(x: Tensor, dy: Tensor, dx: Tensor): void {
  const simd = native();
  if (simd) elementwise(simd, 'softplusGradient', [x, dy], dx);
  else plainSoftplusBackward(x, dy, dx);
}

/** `siluBackward` in plain TypeScript. */
export function plainSiluBackward(x: Tensor, dy: Tensor, dx: Tensor): void {
  if (!dx.contiguous) {
    zip(x, dy, dx, (v, d) => siluSlope(v) * d);
    return;
  }
  // A loop of its own lets the compiler inline the slope.
  const [from, above, to] = [x.toArray(), dy.toArray(), dx.toArray()];
  for (let i = 0; i < to.length; i++) to[i] = siluSlope(from[i]) * above[i];
}

/** `softplusBackward` in plain TypeScript. */
export function plainSoftplusBackward(x: Tensor, dy: Tensor, dx: Tensor): void {
  if (!dx.contiguous) {
    zip(x, dy, dx, (v, d) => softplusSlope(v) * d);
    return;
  }
  const [from, above, to] = [x.toArray(), dy.toArray(), dx.toArray()];
  for (let i = 0; i < to.length; i++) to[i] = softplusSlope(from[i]) * above[i];
}
