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
export const LOG2E: f32 = 1.44269504;
/** ln 2 in two parts; n LN2_HIGH is exact. */
const LN2_HIGH: f32 = 0.693359375;
const LN2_LOW: f32 = -2.12194440e-4;

/**
 * e^x within 0.9 ulp, in the strict build within 1.2. Below -86.98, where it is smaller than 2^-125, it is 0;
 * above 88.72 it is infinite; NaN stays NaN. x = n ln 2 + r, |r| <= ln 2 / 2; 2 e^r is a polynomial with the
 * least relative error, and 2^(n - 1) is made of bits.
 */
// @ts-ignore: decorator
@inline
export function exp(v: v128): v128 {
  const x = f32x4.pmin(f32x4.pmax(v, f32x4.splat(-87.5)), f32x4.splat(89));
  const t = madd(x, f32x4.splat(LOG2E), f32x4.splat(MAGIC));
  const n = f32x4.sub(t, f32x4.splat(MAGIC));
  const r = madd(n, f32x4.splat(-LN2_LOW), madd(n, f32x4.splat(-LN2_HIGH), x));
  let p = madd(f32x4.splat(2 * 1.37820886e-3), r, f32x4.splat(2 * 8.37293081e-3));
  p = madd(p, r, f32x4.splat(2 * 4.16694842e-2));
  p = madd(p, r, f32x4.splat(2 * 1.66664734e-1));
  p = madd(p, r, f32x4.splat(2 * 4.99999851e-1));
  p = madd(p, r, f32x4.splat(2));
  p = madd(p, r, f32x4.splat(2));
  const scale = i32x4.shl(i32x4.add(t, i32x4.splat(126)), 23);
  return f32x4.mul(p, scale);
}

/**
 * 2^(a b) for |a b| <= 125, where nothing overflows, within 0.9 ulp (strict: 1.1) of the power of the product as
 * this build rounds it; NaN gives anything. n = a b rounded, and 2^n is multiplied by adding to the exponent.
 */
// @ts-ignore: decorator
@inline
export function exp2OfProduct(a: v128, b: v128): v128 {
  const t = madd(a, b, f32x4.splat(MAGIC));
  const r = madd(a, b, f32x4.sub(f32x4.splat(MAGIC), t));
  let p = madd(f32x4.splat(1.53257613e-4), r, f32x4.splat(1.33914151e-3));
  p = madd(p, r, f32x4.splat(9.61851422e-3));
  p = madd(p, r, f32x4.splat(5.55035807e-2));
  p = madd(p, r, f32x4.splat(2.40226477e-1));
  p = madd(p, r, f32x4.splat(6.93147182e-1));
  p = madd(p, r, f32x4.splat(1));
  return i32x4.add(p, i32x4.shl(t, 23));
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

/** The sums of the lanes of four vectors. */
// @ts-ignore: decorator
@inline
export function sumsOfLanes(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const cd = f32x4.add(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  return f32x4.add(v128.shuffle<f32>(ab, cd, 0, 1, 4, 5), v128.shuffle<f32>(ab, cd, 2, 3, 6, 7));
}

/** The first `count` of four elements, 1 to 3, then 0. */
export function loadSome(at: usize, count: i32): v128 {
  let v = v128.load32_zero(at);
  if (count > 1) v = v128.load_lane<f32>(at, v, 1, 4);
  if (count > 2) v = v128.load_lane<f32>(at, v, 2, 8);
  return v;
}

/** Writes the first `count` lanes, 1 to 3. */
export function storeSome(at: usize, count: i32, v: v128): void {
  v128.store_lane<f32>(at, v, 0);
  if (count > 1) v128.store_lane<f32>(at, v, 1, 4);
  if (count > 2) v128.store_lane<f32>(at, v, 2, 8);
}

/** Copies elements whose steps are given in bytes; fast from or to a flipped axis. */
export function copyRow(from: usize, fromStep: isize, to: usize, toStep: isize, count: i32): void {
  if (fromStep + toStep == 0 && abs(fromStep) == 4) {
    // Four elements lie below an address where the step is -4.
    const fromBack = fromStep < 0 ? 12 : 0;
    const toBack = toStep < 0 ? 12 : 0;
    for (; count >= 4; count -= 4, from += 4 * fromStep, to += 4 * toStep) {
      const v = v128.load(from - fromBack);
      v128.store(to - toBack, v128.shuffle<f32>(v, v, 3, 2, 1, 0));
    }
  }
  for (; count > 0; count--, from += fromStep, to += toStep) store<f32>(to, load<f32>(from));
}
