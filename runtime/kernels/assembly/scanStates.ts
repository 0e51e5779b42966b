/** The recurrence of the selective scan over a segment of one channel. */
import { GROUP, groupsOf } from './scanPairs';
import { LOG2E, exp, exp2OfProduct, loadSome, madd } from './simd';

/** Exponents up to here, in any direction, are far from where float32 ends. */
const NEAR: f32 = 85;

/** The largest magnitude of `count` contiguous elements; NaN if there is one. */
export function largestOf(row: usize, count: i32): f32 {
  let largest = f32x4.splat(0);
  for (; count >= 4; count -= 4, row += 16) largest = larger(largest, v128.load(row));
  if (count > 0) largest = larger(largest, loadSome(row, count));
  return largestLane(largest);
}

/** The larger magnitudes. Those of floats compare like their bits, and NaN is above all. */
// @ts-ignore: decorator
@inline
function larger(largest: v128, v: v128): v128 {
  return i32x4.max_s(largest, f32x4.abs(v));
}

function largestLane(v: v128): f32 {
  v = i32x4.max_s(v, v128.shuffle<i32>(v, v, 2, 3, 0, 1));
  v = i32x4.max_s(v, v128.shuffle<i32>(v, v, 1, 0, 3, 2));
  return f32x4.extract_lane(v, 0);
}

/**
 * Copies a row of A, absent states as 0. True when no exponent delta A can leave the range of the fast power of
 * two, for which A is then scaled. `limit` is the largest |delta|; where it or A is NaN this is false.
 */
export function prepareA(from: usize, to: usize, states: i32, limit: f32): boolean {
  const zero = f32x4.splat(0);
  let largest = zero;
  for (let n = 0; n < states; n += 4) {
    const count = states - n;
    const four = count >= 4 ? v128.load(from + 4 * n) : loadSome(from + 4 * n, count);
    largest = larger(largest, four);
    v128.store(to + 4 * n, four);
  }
  const near = largestLane(largest) * limit <= NEAR;
  if (near) {
    for (let n = 0; n < states; n += 4) {
      v128.store(to + 4 * n, f32x4.mul(v128.load(to + 4 * n), f32x4.splat(LOG2E)));
    }
  }
  return near;
}

@unmanaged
class NearDecay {
  // @ts-ignore: decorator
  @inline
  of(delta: v128, A: v128): v128 {
    return exp2OfProduct(delta, A);
  }
}

@unmanaged
class AnyDecay {
  // @ts-ignore: decorator
  @inline
  of(delta: v128, A: v128): v128 {
    return exp(f32x4.mul(delta, A));
  }
}

/** For a pass that needs no more than the sums. */
@unmanaged
export class KeepNothing {
  // @ts-ignore: decorator
  @inline
  note(record: usize, h: v128, decay: v128): void {}
}

/** For one that goes back: a step's record holds, per group, the state before the step and its decay. */
@unmanaged
export class KeepStates {
  // @ts-ignore: decorator
  @inline
  note(record: usize, h: v128, decay: v128): void {
    v128.store(record, h);
    v128.store(record, decay, 16);
  }
}

/** A segment of one channel; the tensors' rows are contiguous. */
@unmanaged
export class Segment {
  count: i32;
  states: i32;
  u: usize;
  delta: usize;
  /** B and C, from the first step on. */
  pairs: usize;
  /** Made by `prepareA`. */
  A: usize;
  /** Of the step before the first, then of the last. */
  h: usize;
  /** C h of each step, in four lanes. */
  sums: usize;
  /** What K keeps; as far apart as `pairs`. */
  records: usize;
}

/** Moves the states of a channel on by a segment. */
export function advance<K>(s: Segment, near: boolean): void {
  const end = 4 * s.states;
  let at = 0;
  for (; near && at + 64 <= end; at += 64) advanceFour<K>(s, at);
  for (; at < end; at += 16) {
    if (near) advanceOne<NearDecay, K>(s, at);
    else advanceOne<AnyDecay, K>(s, at);
  }
}

/** Keeps the sums of earlier groups. */
// @ts-ignore: decorator
@inline
export function keepOf(at: i32): v128 {
  return i32x4.splat(at > 0 ? -1 : 0);
}

/** Which of the states from byte `at` on there are: what the others make of NaN and Inf must not reach sums. */
// @ts-ignore: decorator
@inline
export function existing(states: i32, at: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(states - (at >> 2)));
}

/** Four groups at once, as many as the registers hold. `at` is the byte of a row of A where they begin. */
function advanceFour<K>(s: Segment, at: i32): void {
  const keeper = changetype<K>(0);
  const A0 = v128.load(s.A + at);
  const A1 = v128.load(s.A + at, 16);
  const A2 = v128.load(s.A + at, 32);
  const A3 = v128.load(s.A + at, 48);
  const h = s.h + at;
  let h0 = v128.load(h);
  let h1 = v128.load(h, 16);
  let h2 = v128.load(h, 32);
  let h3 = v128.load(h, 48);
  let pairs = s.pairs + 2 * at;
  // The record of a step lies as far ahead of its pairs as all others.
  const ahead = s.records - s.pairs;
  let u = s.u;
  let delta = s.delta;
  const keep = keepOf(at);
  const row = GROUP * groupsOf(s.states);
  const end = s.sums + 16 * s.count;
  for (let sums = s.sums; sums < end; sums += 16) {
    const step = v128.load32_splat(delta);
    const written = f32x4.mul(step, v128.load32_splat(u));
    const a0 = exp2OfProduct(step, A0);
    keeper.note(pairs + ahead, h0, a0);
    h0 = madd(a0, h0, f32x4.mul(written, v128.load(pairs)));
    const a1 = exp2OfProduct(step, A1);
    keeper.note(pairs + ahead + 32, h1, a1);
    h1 = madd(a1, h1, f32x4.mul(written, v128.load(pairs, 32)));
    const a2 = exp2OfProduct(step, A2);
    keeper.note(pairs + ahead + 64, h2, a2);
    h2 = madd(a2, h2, f32x4.mul(written, v128.load(pairs, 64)));
    const a3 = exp2OfProduct(step, A3);
    keeper.note(pairs + ahead + 96, h3, a3);
    h3 = madd(a3, h3, f32x4.mul(written, v128.load(pairs, 96)));
    let sum = madd(h0, v128.load(pairs, 16), v128.and(v128.load(sums), keep));
    sum = madd(h1, v128.load(pairs, 48), sum);
    sum = madd(h2, v128.load(pairs, 80), sum);
    sum = madd(h3, v128.load(pairs, 112), sum);
    v128.store(sums, sum);
    u += 4;
    delta += 4;
    pairs += row;
  }
  v128.store(h, h0);
  v128.store(h, h1, 16);
  v128.store(h, h2, 32);
  v128.store(h, h3, 48);
}

/** One group, which may lack its last states. */
function advanceOne<T, K>(s: Segment, at: i32): void {
  const decay = changetype<T>(0);
  const keeper = changetype<K>(0);
  const A0 = v128.load(s.A + at);
  let h0 = v128.load(s.h + at);
  let pairs = s.pairs + 2 * at;
  // The record of a step lies as far ahead of its pairs as all others.
  const ahead = s.records - s.pairs;
  let u = s.u;
  let delta = s.delta;
  const keep = keepOf(at);
  const exists = existing(s.states, at);
  const row = GROUP * groupsOf(s.states);
  const end = s.sums + 16 * s.count;
  for (let sums = s.sums; sums < end; sums += 16) {
    const step = v128.load32_splat(delta);
    const written = f32x4.mul(step, v128.load32_splat(u));
    const a0 = decay.of(step, A0);
    keeper.note(pairs + ahead, h0, a0);
    h0 = madd(a0, h0, f32x4.mul(written, v128.load(pairs)));
    const sum = v128.and(f32x4.mul(h0, v128.load(pairs, 16)), exists);
    v128.store(sums, f32x4.add(v128.and(v128.load(sums), keep), sum));
    u += 4;
    delta += 4;
    pairs += row;
  }
  v128.store(s.h + at, h0);
}
