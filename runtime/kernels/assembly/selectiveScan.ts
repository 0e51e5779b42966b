import { GROUP, groupsOf, pairsOf } from './scanPairs';
import { KeepNothing, Segment, advance, largestOf, prepareA } from './scanStates';
import { sequences } from './sequences';
import { exp, loadSome, storeSome, sumsOfLanes } from './simd';

/** Channels that go over a segment of B and C one after the other, and steps of a segment: both stay in cache. */
export const TILE: i32 = 16;
export const SEGMENT: i32 = 512;
/** Bytes of a row of a segment, and of a vector for each of its steps. */
export const ROW: i32 = 4 * SEGMENT;
export const SUMS: i32 = 16 * SEGMENT;
/** Bytes of a `Segment`, in whole cache lines. */
export const SEGMENT_BYTES: i32 = 64;

/** After u, delta, z and y (B, D, L). */
@unmanaged
class ScanArguments {
  A: usize;
  D: usize;
  pairs: usize;
  channels: i32;
  length: i32;
  states: i32;
}

/**
 * Tiles `from` to `to` of all tiles of the batch. `scratch` holds a `Segment`, its sums, four rows of it, a row of
 * A and the states of a tile.
 */
export function selectiveScan(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<ScanArguments>(args + 4 * 16);
  const tiles = (p.channels + TILE - 1) / TILE;
  for (let item = from; item < to; item++) {
    const batch = item / tiles;
    const first = (item - batch * tiles) * TILE;
    scanTile(args, p, batch, first, min(first + TILE, p.channels), scratch);
  }
}

function scanTile(args: usize, p: ScanArguments, batch: i32, first: i32, last: i32, scratch: usize): void {
  const groups = groupsOf(p.states);
  const s = changetype<Segment>(scratch);
  s.states = p.states;
  s.sums = scratch + SEGMENT_BYTES;
  const rows = s.sums + SUMS;
  s.A = rows + 4 * ROW;
  const states = s.A + 16 * groups;
  const pairs = pairsOf(p.pairs, batch, p.length, groups);
  memory.fill(states, 0, 16 * groups * TILE);
  for (let t = 0; t < p.length; t += SEGMENT) {
    const count = min(SEGMENT, p.length - t);
    s.count = count;
    s.pairs = pairs + GROUP * groups * t;
    for (let d = first; d < last; d++) {
      s.u = sequences(args, 0).row(batch, d, t, count, rows);
      s.delta = sequences(args, 1).row(batch, d, t, count, rows + ROW);
      s.h = states + 16 * groups * (d - first);
      const near = prepareA(p.A + 4 * p.states * d, s.A, p.states, largestOf(s.delta, count));
      advance<KeepNothing>(s, near);
      const z = sequences(args, 2).row(batch, d, t, count, rows + 2 * ROW);
      const y = sequences(args, 3);
      const target = y.target(batch, d, t, rows + 3 * ROW);
      finish(skipOf(p.D, d), maskOf(p.D), s.u, z, target, count, s.sums);
      y.write(batch, d, t, count, target);
    }
  }
}

/** D of a channel, in four lanes. */
// @ts-ignore: decorator
@inline
export function skipOf(D: usize, d: i32): v128 {
  return f32x4.splat(D ? load<f32>(D + 4 * d) : 0);
}

/** All bits where a tensor is there. */
// @ts-ignore: decorator
@inline
export function maskOf(address: usize): v128 {
  return i32x4.splat(address ? -1 : 0);
}

/** y = (the sums + D u) silu(z). */
function finish(skip: v128, hasSkip: v128, u: usize, z: usize, y: usize, count: i32, sums: usize): void {
  if (!z) {
    for (; count >= 4; count -= 4, u += 16, y += 16, sums += 64) {
      v128.store(y, ungated(sums, skip, hasSkip, v128.load(u)));
    }
    if (count > 0) storeSome(y, count, ungated(sums, skip, hasSkip, loadSome(u, count)));
    return;
  }
  for (; count >= 4; count -= 4, u += 16, z += 16, y += 16, sums += 64) {
    v128.store(y, f32x4.mul(ungated(sums, skip, hasSkip, v128.load(u)), silu(v128.load(z))));
  }
  if (count > 0) {
    const four = ungated(sums, skip, hasSkip, loadSome(u, count));
    storeSome(y, count, f32x4.mul(four, silu(loadSome(z, count))));
  }
}

/** The added-up sums of four steps, and D u where there is a D. */
// @ts-ignore: decorator
@inline
export function ungated(sums: usize, skip: v128, hasSkip: v128, u: v128): v128 {
  return f32x4.add(sumsAt(sums), v128.and(f32x4.mul(skip, u), hasSkip));
}

/** The added-up sums of four steps. */
// @ts-ignore: decorator
@inline
export function sumsAt(sums: usize): v128 {
  return sumsOfLanes(v128.load(sums), v128.load(sums, 16), v128.load(sums, 32), v128.load(sums, 48));
}

// @ts-ignore: decorator
@inline
function silu(z: v128): v128 {
  return f32x4.div(z, f32x4.add(f32x4.splat(1), exp(f32x4.neg(z))));
}
