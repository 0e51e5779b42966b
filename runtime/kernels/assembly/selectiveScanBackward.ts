import { GROUP, groupsOf, pairsOf } from './scanPairs';
import { KeepNothing, KeepStates, Segment, advance, largestOf, prepareA } from './scanStates';
import { BackwardSegment, goBack } from './scanStatesBackward';
import { ROW, SEGMENT, SEGMENT_BYTES, SUMS, TILE, maskOf, skipOf, sumsAt, ungated } from './selectiveScan';
import { sequences } from './sequences';
import { loadSome, madd, sigmoid, storeSome, sumLanes } from './simd';

const LN2: f32 = 0.693147182;

/** After u, delta, z, dy, du, ddelta and dz (B, D, L); z and the gradients may be absent. */
@unmanaged
class BackwardArguments {
  A: usize;
  D: usize;
  dA: usize;
  dD: usize;
  pairs: usize;
  /** Pairs of dB and dC, for each chunk of channels those of the whole batch. */
  gradients: usize;
  batch: i32;
  channels: i32;
  length: i32;
  states: i32;
  /** Channels of a chunk, a multiple of TILE. */
  chunk: i32;
}

/**
 * Gradients of chunks `from` to `to` of the channels. The states of a segment are computed again and then gone
 * through from its last step to the first; of all but the last segment, only the first state is kept until then.
 * `scratch` holds a `BackwardSegment`, its sums twice, eight rows, a row of A and the records of a segment; then
 * for a tile dh and dA (N), dD (4 lanes) and the first states of all segments.
 */
export function selectiveScanBackward(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<BackwardArguments>(args + 7 * 16);
  const groups = groupsOf(p.states);
  const bytes = pairsOf(0, p.batch, p.length, groups);
  for (let chunk = from; chunk < to; chunk++) {
    const gradients = p.gradients + bytes * chunk;
    memory.fill(gradients, 0, bytes);
    const end = min((chunk + 1) * p.chunk, p.channels);
    for (let first = chunk * p.chunk; first < end; first += TILE) {
      tileBackward(args, p, gradients, first, min(first + TILE, end), scratch);
    }
  }
}

function tileBackward(
  args: usize,
  p: BackwardArguments,
  gradients: usize,
  first: i32,
  last: i32,
  scratch: usize,
): void {
  const groups = groupsOf(p.states);
  const row = 16 * groups;
  const s = changetype<BackwardSegment>(scratch);
  s.states = p.states;
  s.sums = scratch + SEGMENT_BYTES;
  s.decaySums = s.sums + SUMS;
  s.rows = s.decaySums + SUMS;
  s.A = s.rows + 8 * ROW;
  s.records = s.A + row;
  const dh = s.records + 2 * row * SEGMENT;
  const dA = dh + row * TILE;
  const dD = dA + row * TILE;
  const starts = dD + 16 * TILE;
  memory.fill(dA, 0, (row + 16) * TILE);
  const segments = (p.length + SEGMENT - 1) / SEGMENT;
  for (let batch = 0; batch < p.batch; batch++) {
    const pairs = pairsOf(p.pairs, batch, p.length, groups);
    const pairGradients = pairsOf(gradients, batch, p.length, groups);
    memory.fill(dh, 0, row * TILE);
    memory.fill(starts, 0, row * TILE);
    for (let i = 0; i < segments - 1; i++) {
      const next = starts + row * TILE * (i + 1);
      memory.copy(next, next - row * TILE, row * TILE);
      for (let d = first; d < last; d++) {
        s.h = next + row * (d - first);
        advance<KeepNothing>(s, enter(s, args, p, pairs, batch, d, i * SEGMENT));
      }
    }
    for (let i = segments - 1; i >= 0; i--) {
      s.gradients = pairGradients + 2 * row * SEGMENT * i;
      for (let d = first; d < last; d++) {
        const k = d - first;
        s.h = starts + row * (TILE * i + k);
        s.dh = dh + row * k;
        s.dA = dA + row * k;
        segmentBackward(s, args, p, pairs, batch, d, i * SEGMENT, dD + 16 * k);
      }
    }
  }
  for (let d = first; d < last; d++) {
    const k = d - first;
    if (p.dA) memory.copy(p.dA + 4 * p.states * d, dA + row * k, 4 * p.states);
    if (p.dD) store<f32>(p.dD + 4 * d, sumLanes(v128.load(dD + 16 * k)));
  }
}

/** Makes `s` the segment of a channel that begins at step t; true when A is scaled. */
function enter(
  s: BackwardSegment,
  args: usize,
  p: BackwardArguments,
  pairs: usize,
  batch: i32,
  d: i32,
  t: i32,
): boolean {
  const count = min(SEGMENT, p.length - t);
  s.count = count;
  s.pairs = pairs + GROUP * groupsOf(p.states) * t;
  s.u = sequences(args, 0).row(batch, d, t, count, s.rows);
  s.delta = sequences(args, 1).row(batch, d, t, count, s.rows + ROW);
  return prepareA(p.A + 4 * p.states * d, s.A, p.states, largestOf(s.delta, count));
}

function segmentBackward(
  s: BackwardSegment,
  args: usize,
  p: BackwardArguments,
  pairs: usize,
  batch: i32,
  d: i32,
  t: i32,
  dD: usize,
): void {
  const near = enter(s, args, p, pairs, batch, d, t);
  const count = s.count;
  const rows = s.rows;
  advance<KeepStates>(s, near);
  const z = sequences(args, 2).row(batch, d, t, count, rows + 2 * ROW);
  let ds = sequences(args, 3).row(batch, d, t, count, rows + 3 * ROW);
  const skip = skipOf(p.D, d);
  const hasSkip = maskOf(p.D);
  if (z) {
    const dz = sequences(args, 6);
    const target = dz.target(batch, d, t, rows + 4 * ROW);
    gateBackward(s, skip, hasSkip, z, ds, target, rows + 5 * ROW);
    dz.write(batch, d, t, count, target);
    ds = rows + 5 * ROW;
  }
  goBack(s, ds);
  const du = sequences(args, 4);
  const ddelta = sequences(args, 5);
  const uTarget = du.target(batch, d, t, rows + 6 * ROW);
  const deltaTarget = ddelta.target(batch, d, t, rows + 7 * ROW);
  const more = stepGradients(s, skip, hasSkip, ds, uTarget, deltaTarget, near ? LN2 : 1);
  v128.store(dD, f32x4.add(v128.load(dD), more));
  du.write(batch, d, t, count, uTarget);
  ddelta.write(batch, d, t, count, deltaTarget);
}

/** dz = dy silu'(z) s and ds = dy silu(z), with s = C h + D u. */
function gateBackward(
  s: Segment,
  skip: v128,
  hasSkip: v128,
  z: usize,
  dy: usize,
  dz: usize,
  ds: usize,
): void {
  let count = s.count;
  let sums = s.sums;
  let u = s.u;
  for (; count >= 4; count -= 4, sums += 64, u += 16, z += 16, dy += 16, dz += 16, ds += 16) {
    const y = ungated(sums, skip, hasSkip, v128.load(u));
    const zs = v128.load(z);
    const dys = v128.load(dy);
    const gate = sigmoid(zs);
    v128.store(dz, f32x4.mul(f32x4.mul(dys, siluSlope(zs, gate)), y));
    v128.store(ds, f32x4.mul(dys, f32x4.mul(zs, gate)));
  }
  if (count > 0) {
    const y = ungated(sums, skip, hasSkip, loadSome(u, count));
    const zs = loadSome(z, count);
    const dys = loadSome(dy, count);
    const gate = sigmoid(zs);
    storeSome(dz, count, f32x4.mul(f32x4.mul(dys, siluSlope(zs, gate)), y));
    v128.store(ds, f32x4.mul(dys, f32x4.mul(zs, gate)));
  }
}

/** s (1 + x (1 - s)) with s = sigmoid(x). */
// @ts-ignore: decorator
@inline
function siluSlope(x: v128, s: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.mul(s, madd(x, f32x4.sub(one, s), one));
}

/**
 * du = D ds + delta sum B dh and ddelta = u sum B dh + the decays' part, which is `scale` times their sums. Gives
 * what the segment adds to dD, in four lanes.
 */
function stepGradients(
  s: BackwardSegment,
  skip: v128,
  hasSkip: v128,
  ds: usize,
  du: usize,
  ddelta: usize,
  scale: f32,
): v128 {
  let dD = f32x4.splat(0);
  const scales = f32x4.splat(scale);
  let sums = s.sums;
  let decaySums = s.decaySums;
  let u = s.u;
  let delta = s.delta;
  let count = s.count;
  for (; count >= 4; count -= 4) {
    const dwritten = sumsAt(sums);
    const decays = f32x4.mul(sumsAt(decaySums), scales);
    const us = v128.load(u);
    const dss = v128.load(ds);
    v128.store(du, madd(dwritten, v128.load(delta), v128.and(f32x4.mul(dss, skip), hasSkip)));
    v128.store(ddelta, madd(dwritten, us, decays));
    dD = madd(dss, us, dD);
    sums += 64;
    decaySums += 64;
    u += 16;
    delta += 16;
    ds += 16;
    du += 16;
    ddelta += 16;
  }
  if (count > 0) {
    const dwritten = sumsAt(sums);
    const decays = f32x4.mul(sumsAt(decaySums), scales);
    const us = loadSome(u, count);
    const dss = loadSome(ds, count);
    storeSome(du, count, madd(dwritten, loadSome(delta, count), v128.and(f32x4.mul(dss, skip), hasSkip)));
    storeSome(ddelta, count, madd(dwritten, us, decays));
    dD = madd(dss, us, dD);
  }
  return dD;
}
