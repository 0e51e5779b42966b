/** Sums of contiguous elements. */
import { loadFew } from './rows';
import { madd } from './simd';

/** Elements 0 and 1, and 2 and 3, as float64. */
// @ts-ignore: decorator
@inline
export function low(v: v128): v128 {
  return f64x2.promote_low_f32x4(v);
}

// @ts-ignore: decorator
@inline
export function high(v: v128): v128 {
  return f64x2.promote_low_f32x4(v128.shuffle<f32>(v, v, 2, 3, 2, 3));
}

/** Two elements as float64. */
// @ts-ignore: decorator
@inline
export function loadPair(x: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(x));
}

/** The sum of both lanes. */
// @ts-ignore: decorator
@inline
export function sumPair(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}

/** sum of x, in float64 */
export function sum(x: usize, count: i32): f64 {
  let s0 = f64x2.splat(0);
  let s1 = f64x2.splat(0);
  const end = x + (<usize>(count & ~3) << 2);
  for (; x < end; x += 16) {
    const v = v128.load(x);
    s0 = f64x2.add(s0, low(v));
    s1 = f64x2.add(s1, high(v));
  }
  if (count & 3) {
    const v = loadFew(x, count & 3);
    s0 = f64x2.add(s0, low(v));
    s1 = f64x2.add(s1, high(v));
  }
  return sumPair(f64x2.add(s0, s1));
}

/** sum of (x - shift)^2, in float64 */
export function sumSquares(x: usize, count: i32, shift: f64): f64 {
  const by = f64x2.splat(shift);
  let s0 = f64x2.splat(0);
  let s1 = f64x2.splat(0);
  const end = x + (<usize>(count & ~3) << 2);
  for (; x < end; x += 16) {
    const v = v128.load(x);
    const a = f64x2.sub(low(v), by);
    const b = f64x2.sub(high(v), by);
    s0 = f64x2.add(s0, f64x2.mul(a, a));
    s1 = f64x2.add(s1, f64x2.mul(b, b));
  }
  let total = sumPair(f64x2.add(s0, s1));
  for (let i = 0; i < (count & 3); i++, x += 4) {
    const a = <f64>load<f32>(x) - shift;
    total += a * a;
  }
  return total;
}

/** Products that are summed in float32, 32 in each of sixteen sums, before float64 takes over. */
const BLOCK: i32 = 512;

/** sum of x y, to about float32 at any length */
export function dot(x: usize, y: usize, count: i32): f64 {
  let total: f64 = 0;
  for (; count > 0; count -= BLOCK, x += BLOCK << 2, y += BLOCK << 2) total += dotBlock(x, y, min(count, BLOCK));
  return total;
}

function dotBlock(x: usize, y: usize, count: i32): f64 {
  let s0 = f32x4.splat(0);
  let s1 = f32x4.splat(0);
  let s2 = f32x4.splat(0);
  let s3 = f32x4.splat(0);
  let end = x + (<usize>(count & ~15) << 2);
  for (; x < end; x += 64, y += 64) {
    s0 = madd(v128.load(x), v128.load(y), s0);
    s1 = madd(v128.load(x, 16), v128.load(y, 16), s1);
    s2 = madd(v128.load(x, 32), v128.load(y, 32), s2);
    s3 = madd(v128.load(x, 48), v128.load(y, 48), s3);
  }
  end += <usize>(count & 12) << 2;
  for (; x < end; x += 16, y += 16) s0 = madd(v128.load(x), v128.load(y), s0);
  if (count & 3) s1 = madd(loadFew(x, count & 3), loadFew(y, count & 3), s1);
  const s = f32x4.add(f32x4.add(s0, s1), f32x4.add(s2, s3));
  return sumPair(f64x2.add(low(s), high(s)));
}
