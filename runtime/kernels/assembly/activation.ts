/** The activations of a Mamba block and their gradients. */
import { binary, unary } from './rows';
import { exp, madd, sigmoid } from './simd';

@unmanaged
class Exponential {
  // @ts-ignore: decorator
  @inline
  apply(x: v128): v128 {
    return exp(x);
  }
}

@unmanaged
class Silu {
  // @ts-ignore: decorator
  @inline
  apply(x: v128): v128 {
    return f32x4.div(x, f32x4.add(f32x4.splat(1), exp(f32x4.neg(x))));
  }
}

@unmanaged
class Softplus {
  /** log(1 + e^-|x|) + max(x, 0) neither overflows nor loses the digits of a small e^x. */
  // @ts-ignore: decorator
  @inline
  apply(x: v128): v128 {
    const below = v128.or(x, i32x4.splat(0x80000000)); // -|x|
    return f32x4.add(log1p(exp(below)), f32x4.max(x, f32x4.splat(0)));
  }
}

@unmanaged
class SiluGradient {
  /** (s + x s (1 - s)) dy with s = sigmoid(x). */
  // @ts-ignore: decorator
  @inline
  apply(x: v128, dy: v128): v128 {
    const one = f32x4.splat(1);
    const s = sigmoid(x);
    return f32x4.mul(f32x4.mul(s, madd(x, f32x4.sub(one, s), one)), dy);
  }
}

@unmanaged
class SoftplusGradient {
  /** Above 20, where softplus is x itself, the sigmoid is 1. */
  // @ts-ignore: decorator
  @inline
  apply(x: v128, dy: v128): v128 {
    return f32x4.mul(sigmoid(x), dy);
  }
}

/** log(1 + t) for t in [0, 1] within 2 ulp: 2 atanh(s) with s = t / (2 + t), by a series that Remez' algorithm made. */
// @ts-ignore: decorator
@inline
function log1p(t: v128): v128 {
  const s = f32x4.div(t, f32x4.add(t, f32x4.splat(2)));
  const z = f32x4.mul(s, s);
  let q = madd(f32x4.splat(0.280119866), z, f32x4.splat(0.280018061));
  q = madd(q, z, f32x4.splat(0.400215268));
  q = madd(q, z, f32x4.splat(0.666664183));
  return madd(f32x4.mul(s, z), q, f32x4.add(s, s));
}

/** y = e^x */
export function exponential(args: usize, from: i32, to: i32, scratch: usize): void {
  unary<Exponential>(args, from, to, scratch);
}

/** y = x sigmoid(x) */
export function silu(args: usize, from: i32, to: i32, scratch: usize): void {
  unary<Silu>(args, from, to, scratch);
}

/** y = log(1 + e^x) */
export function softplus(args: usize, from: i32, to: i32, scratch: usize): void {
  unary<Softplus>(args, from, to, scratch);
}

/** dx = silu'(x) dy */
export function siluGradient(args: usize, from: i32, to: i32, scratch: usize): void {
  binary<SiluGradient>(args, from, to, scratch);
}

/** dx = softplus'(x) dy */
export function softplusGradient(args: usize, from: i32, to: i32, scratch: usize): void {
  binary<SoftplusGradient>(args, from, to, scratch);
}
