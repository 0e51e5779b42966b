import type { Tensor } from '../tensor/tensor';
import { map } from './elementwise';
import { exp } from './exp';
import { native } from './native';
import { elementwise } from './native/rows';

/** SiLU: x sigmoid(x). */
export const silu = (x: number): number => x / (1 + exp(-x));

/** softplus: log(1 + e^x); x itself above 20, as in PyTorch. */
export function softplus(x: number): number {
  if (x > 20) return x;
  const e = exp(x);
  // log(1 + e) loses the digits of a small e; the series does not.
  return e < 1e-5 ? e - (e * e) / 2 : Math.log(1 + e);
}

/** y = silu(x), element by element; any strides. */
export function siluOf(x: Tensor, y: Tensor): void {
  const simd = native();
  if (simd) elementwise(simd, 'silu', [x], y);
  else plainSiluOf(x, y);
}

/** y = softplus(x), element by element; any strides. */
export function softplusOf(x: Tensor, y: Tensor): void {
  const simd = native();
  if (simd) elementwise(simd, 'softplus', [x], y);
  else plainSoftplusOf(x, y);
}

/** `siluOf` in plain TypeScript. */
export function plainSiluOf(x: Tensor, y: Tensor): void {
  if (!bothContiguous(x, y)) {
    map(x, y, silu);
    return;
  }
  const [from, to] = [x.toArray(), y.toArray()];
  for (let i = 0; i < from.length; i++) to[i] = silu(from[i]);
}

/** `softplusOf` in plain TypeScript. */
export function plainSoftplusOf(x: Tensor, y: Tensor): void {
  if (!bothContiguous(x, y)) {
    map(x, y, softplus);
    return;
  }
  const [from, to] = [x.toArray(), y.toArray()];
  for (let i = 0; i < from.length; i++) to[i] = softplus(from[i]);
}

/** Loops of their own let the compiler inline the function; `map` is shared by too many. */
function bothContiguous(x: Tensor, y: Tensor): boolean {
  return x.contiguous && y.contiguous;
}
