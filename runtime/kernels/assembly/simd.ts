/** What the kernels share: multiply-add in two builds, and the exponential. */

/** a b + c. The relaxed build rounds once, the strict one twice, alike on all machines. */
// @ts-ignore: decorator
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(f32x4.mul(a, b), c);
}

/** Adding and subtracting 1.5 2^23 rounds to a whole number, which then stands in the lowest bits. */
const MAGIC: f32 = 12582912;
const LOG2E: f32 = 1.44269504;
/** ln 2 in two parts; n LN2_HIGH is exact. */
const LN2_HIGH: f32 = 0.693359375;
const LN2_LOW: f32 = -2.12194440e-4;

/**
 * e^x within 1.2 ulp. Below -86.98 it is 0 where the true value is smaller than 2^-125, above 88.72 it is
 * infinite; NaN stays NaN. x = n ln 2 + r, |r| <= ln 2 / 2; 2 e^r is a polynomial and 2^(n - 1) made of bits.
 */
// @ts-ignore: decorator
@inline
export function exp(v: v128): v128 {
  const x = f32x4.pmin(f32x4.pmax(v, f32x4.splat(-87.5)), f32x4.splat(89));
  const t = madd(x, f32x4.splat(LOG2E), f32x4.splat(MAGIC));
  const n = f32x4.sub(t, f32x4.splat(MAGIC));
  const r = madd(n, f32x4.splat(-LN2_LOW), madd(n, f32x4.splat(-LN2_HIGH), x));
  let p = madd(f32x4.splat(2 * 1.37805939e-3), r, f32x4.splat(2 * 8.37312452e-3));
  p = madd(p, r, f32x4.splat(2 * 4.16695364e-2));
  p = madd(p, r, f32x4.splat(2 * 1.66664720e-1));
  p = madd(p, r, f32x4.splat(2 * 4.99999851e-1));
  p = madd(p, r, f32x4.splat(2));
  p = madd(p, r, f32x4.splat(2));
  const scale = i32x4.shl(i32x4.add(t, i32x4.splat(126)), 23);
  return f32x4.mul(p, scale);
}

/** 1 / (1 + e^-x). */
// @ts-ignore: decorator
@inline
export function sigmoid(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exp(f32x4.neg(x))));
}

/** The sum of the four lanes. */
// @ts-ignore: decorator
@inline
export function sumLanes(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3))
  );
}
