/** Softmax over the last axis, in two passes: what a row adds up to, and the row itself. */
import { contiguous, loadFew, scatter, storeFew } from './rows';
import { exp } from './simd';
import { high, low, sumPair } from './sums';

/** x and y (B, M, K). */
@unmanaged
class SoftmaxArguments {
  x: usize;
  xBatch: isize;
  xRow: isize;
  xStep: isize;
  y: usize;
  yBatch: isize;
  yRow: isize;
  yStep: isize;
  /** Of each row, in float64: its largest element m, and the sum of e^(x - m). */
  sums: usize;
  rows: i32;
  width: i32;
  by: f32;
}

// @ts-ignore: decorator
@inline
function rowOf(p: SoftmaxArguments, item: i32, room: usize): usize {
  const b = item / p.rows;
  const m = item % p.rows;
  return contiguous(p.x + p.xBatch * b + p.xRow * m, p.xStep, p.width, room);
}

/** Items: rows of all batch elements. `scratch` holds a row. */
export function softmaxSums(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<SoftmaxArguments>(args);
  for (let item = from; item < to; item++) {
    const x = rowOf(p, item, scratch);
    const m = largest(x, p.width);
    const sums = p.sums + (<usize>item << 4);
    store<f64>(sums, <f64>m);
    store<f64>(sums, sumExp(x, p.width, m), 8);
  }
}

/** y = softmax(x) by. Items: rows of all batch elements. `scratch` holds two rows. */
export function softmax(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<SoftmaxArguments>(args);
  const room = scratch + (<usize>p.width << 2);
  for (let item = from; item < to; item++) {
    const target = p.y + p.yBatch * (item / p.rows) + p.yRow * (item % p.rows);
    const y = p.yStep == 4 ? target : room;
    const sums = p.sums + (<usize>item << 4);
    const m = <f32>load<f64>(sums);
    expTimes(rowOf(p, item, scratch), y, p.width, m, <f32>(<f64>p.by / load<f64>(sums, 8)));
    if (p.yStep != 4) scatter(y, target, p.yStep, p.width);
  }
}

/** NaN when an element is. */
function largest(x: usize, count: i32): f32 {
  let most = f32x4.splat(-Infinity);
  const end = x + (<usize>(count & ~3) << 2);
  for (; x < end; x += 16) most = f32x4.max(most, v128.load(x));
  for (let i = 0; i < (count & 3); i++, x += 4) most = f32x4.max(most, v128.load32_splat(x));
  return max(
    max(f32x4.extract_lane(most, 0), f32x4.extract_lane(most, 1)),
    max(f32x4.extract_lane(most, 2), f32x4.extract_lane(most, 3)),
  );
}

function sumExp(x: usize, count: i32, m: f32): f64 {
  const by = f32x4.splat(m);
  let s0 = f64x2.splat(0);
  let s1 = f64x2.splat(0);
  const end = x + (<usize>(count & ~3) << 2);
  for (; x < end; x += 16) {
    const e = exp(f32x4.sub(v128.load(x), by));
    s0 = f64x2.add(s0, low(e));
    s1 = f64x2.add(s1, high(e));
  }
  let total = sumPair(f64x2.add(s0, s1));
  for (let i = 0; i < (count & 3); i++, x += 4) {
    total += <f64>f32x4.extract_lane(exp(f32x4.sub(v128.load32_splat(x), by)), 0);
  }
  return total;
}

function expTimes(x: usize, y: usize, count: i32, m: f32, factor: f32): void {
  const by = f32x4.splat(m);
  const times = f32x4.splat(factor);
  const end = x + (<usize>(count & ~3) << 2);
  for (; x < end; x += 16, y += 16) v128.store(y, f32x4.mul(exp(f32x4.sub(v128.load(x), by)), times));
  const rest = count & 3;
  if (rest) storeFew(y, f32x4.mul(exp(f32x4.sub(loadFew(x, rest), by)), times), rest);
}
