/** The recurrence of the selective scan over a segment of one channel, from its last step to the first. */
import { GROUP, groupsOf } from './scanPairs';
import { Segment, existing, keepOf } from './scanStates';
import { madd } from './simd';

/** What going back over a segment takes and gives. */
@unmanaged
export class BackwardSegment extends Segment {
  /** [dB, dC] of the segment's steps. */
  gradients: usize;
  /** In four lanes, what each step adds to the gradient of delta by its decays. */
  decaySums: usize;
  /** dh of the channel after the segment, then before it. */
  dh: usize;
  dA: usize;
  /** Rows for copies. */
  rows: usize;
}

/**
 * Adds to dA, dB and dC, with what `advance` kept of the segment, and leaves for each step the four lanes of
 * sum B dh in `sums` and of sum A decay h[t-1] dh in `decaySums`.
 */
export function goBack(s: BackwardSegment, ds: usize): void {
  const end = 4 * s.states;
  let at = 0;
  for (; at + 64 <= end; at += 64) backFour(s, ds, at);
  for (; at < end; at += 16) backOne(s, ds, at);
}

function backFour(s: BackwardSegment, ds: usize, at: i32): void {
  const A0 = v128.load(s.A + at);
  const A1 = v128.load(s.A + at, 16);
  const A2 = v128.load(s.A + at, 32);
  const A3 = v128.load(s.A + at, 48);
  let dh0 = v128.load(s.dh + at);
  let dh1 = v128.load(s.dh + at, 16);
  let dh2 = v128.load(s.dh + at, 32);
  let dh3 = v128.load(s.dh + at, 48);
  let dA0 = v128.load(s.dA + at);
  let dA1 = v128.load(s.dA + at, 16);
  let dA2 = v128.load(s.dA + at, 32);
  let dA3 = v128.load(s.dA + at, 48);
  let h0 = v128.load(s.h + at);
  let h1 = v128.load(s.h + at, 16);
  let h2 = v128.load(s.h + at, 32);
  let h3 = v128.load(s.h + at, 48);
  const keep = keepOf(at);
  const row = GROUP * groupsOf(s.states);
  const last = s.count - 1;
  let pairs = s.pairs + 2 * at + row * last;
  let gradients = s.gradients + 2 * at + row * last;
  let record = s.records + 2 * at + row * last;
  let u = s.u + 4 * last;
  let delta = s.delta + 4 * last;
  let decaySums = s.decaySums + 16 * last;
  ds += 4 * last;
  for (let sums = s.sums + 16 * last; sums >= s.sums; sums -= 16) {
    const dst = v128.load32_splat(ds);
    const step = v128.load32_splat(delta);
    const written = f32x4.mul(step, v128.load32_splat(u));
    let sum = v128.and(v128.load(sums), keep);
    let decaySum = v128.and(v128.load(decaySums), keep);

    dh0 = madd(dst, v128.load(pairs, 16), dh0);
    v128.store(gradients, madd(dst, h0, v128.load(gradients, 16)), 16);
    v128.store(gradients, madd(dh0, written, v128.load(gradients)));
    sum = madd(dh0, v128.load(pairs), sum);
    dh0 = f32x4.mul(dh0, v128.load(record, 16));
    h0 = v128.load(record);
    const kept0 = f32x4.mul(dh0, h0);
    decaySum = madd(kept0, A0, decaySum);
    dA0 = madd(kept0, step, dA0);

    dh1 = madd(dst, v128.load(pairs, 48), dh1);
    v128.store(gradients, madd(dst, h1, v128.load(gradients, 48)), 48);
    v128.store(gradients, madd(dh1, written, v128.load(gradients, 32)), 32);
    sum = madd(dh1, v128.load(pairs, 32), sum);
    dh1 = f32x4.mul(dh1, v128.load(record, 48));
    h1 = v128.load(record, 32);
    const kept1 = f32x4.mul(dh1, h1);
    decaySum = madd(kept1, A1, decaySum);
    dA1 = madd(kept1, step, dA1);

    dh2 = madd(dst, v128.load(pairs, 80), dh2);
    v128.store(gradients, madd(dst, h2, v128.load(gradients, 80)), 80);
    v128.store(gradients, madd(dh2, written, v128.load(gradients, 64)), 64);
    sum = madd(dh2, v128.load(pairs, 64), sum);
    dh2 = f32x4.mul(dh2, v128.load(record, 80));
    h2 = v128.load(record, 64);
    const kept2 = f32x4.mul(dh2, h2);
    decaySum = madd(kept2, A2, decaySum);
    dA2 = madd(kept2, step, dA2);

    dh3 = madd(dst, v128.load(pairs, 112), dh3);
    v128.store(gradients, madd(dst, h3, v128.load(gradients, 112)), 112);
    v128.store(gradients, madd(dh3, written, v128.load(gradients, 96)), 96);
    sum = madd(dh3, v128.load(pairs, 96), sum);
    dh3 = f32x4.mul(dh3, v128.load(record, 112));
    h3 = v128.load(record, 96);
    const kept3 = f32x4.mul(dh3, h3);
    decaySum = madd(kept3, A3, decaySum);
    dA3 = madd(kept3, step, dA3);

    v128.store(sums, sum);
    v128.store(decaySums, decaySum);
    ds -= 4;
    u -= 4;
    delta -= 4;
    decaySums -= 16;
    pairs -= row;
    gradients -= row;
    record -= row;
  }
  v128.store(s.dh + at, dh0);
  v128.store(s.dh + at, dh1, 16);
  v128.store(s.dh + at, dh2, 32);
  v128.store(s.dh + at, dh3, 48);
  v128.store(s.dA + at, dA0);
  v128.store(s.dA + at, dA1, 16);
  v128.store(s.dA + at, dA2, 32);
  v128.store(s.dA + at, dA3, 48);
}

function backOne(s: BackwardSegment, ds: usize, at: i32): void {
  const A0 = v128.load(s.A + at);
  let dh0 = v128.load(s.dh + at);
  let dA0 = v128.load(s.dA + at);
  let h0 = v128.load(s.h + at);
  const keep = keepOf(at);
  const exists = existing(s.states, at);
  const row = GROUP * groupsOf(s.states);
  for (let t = s.count - 1; t >= 0; t--) {
    const pairs = s.pairs + 2 * at + row * t;
    const gradients = s.gradients + 2 * at + row * t;
    const record = s.records + 2 * at + row * t;
    const sums = s.sums + 16 * t;
    const decaySums = s.decaySums + 16 * t;
    const dst = v128.load32_splat(ds + 4 * t);
    const step = v128.load32_splat(s.delta + 4 * t);
    const written = f32x4.mul(step, v128.load32_splat(s.u + 4 * t));
    dh0 = madd(dst, v128.load(pairs, 16), dh0);
    v128.store(gradients, madd(dst, h0, v128.load(gradients, 16)), 16);
    v128.store(gradients, madd(dh0, written, v128.load(gradients)));
    const sum = v128.and(f32x4.mul(dh0, v128.load(pairs)), exists);
    v128.store(sums, f32x4.add(v128.and(v128.load(sums), keep), sum));
    dh0 = f32x4.mul(dh0, v128.load(record, 16));
    h0 = v128.load(record);
    const kept = f32x4.mul(dh0, h0);
    const decaySum = v128.and(f32x4.mul(kept, A0), exists);
    v128.store(decaySums, f32x4.add(v128.and(v128.load(decaySums), keep), decaySum));
    dA0 = madd(kept, step, dA0);
  }
  v128.store(s.dh + at, dh0);
  v128.store(s.dA + at, dA0);
}
