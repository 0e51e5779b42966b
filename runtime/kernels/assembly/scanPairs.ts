/**
 * B and C, and their gradients, as the scans take them: step by step, and in a step [B, C] per group of four
 * states, with 0 for states that there are not.
 */
import { Sequences, sequences } from './sequences';

/** Bytes of [B, C] of a group. */
export const GROUP: i32 = 32;

/** After B and C (B, N, L). */
@unmanaged
class PackArguments {
  pairs: usize;
  length: i32;
  states: i32;
}

/** Packs group `from` to `to` of all groups of the batch: for each step [B, C] of the group, absent states 0. */
export function packScan(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<PackArguments>(args + 2 * 16);
  const groups = groupsOf(p.states);
  for (let item = from; item < to; item++) {
    const batch = item / groups;
    const group = item - batch * groups;
    const pairs = pairsOf(p.pairs, batch, p.length, groups) + GROUP * group;
    for (let lane = 0; lane < 4; lane++) {
      const n = 4 * group + lane;
      packState(sequences(args, 0), batch, n, p.states, pairs + 4 * lane, p.length, groups);
      packState(sequences(args, 1), batch, n, p.states, pairs + 4 * lane + 16, p.length, groups);
    }
  }
}

function packState(
  x: Sequences,
  batch: i32,
  n: i32,
  states: i32,
  to: usize,
  length: i32,
  groups: i32,
): void {
  const absent = n >= states;
  const step = x.step;
  let at = x.at(batch, n, 0);
  for (let t = 0; t < length; t++, at += step, to += GROUP * groups) {
    store<f32>(to, absent ? 0 : load<f32>(at));
  }
}

// @ts-ignore: decorator
@inline
export function groupsOf(states: i32): i32 {
  return (states + 3) >> 2;
}

/** Where the pairs of a batch element begin. */
// @ts-ignore: decorator
@inline
export function pairsOf(pairs: usize, batch: i32, length: i32, groups: i32): usize {
  return pairs + <usize>batch * length * groups * GROUP;
}

/** After dB and dC (B, N, L). */
@unmanaged
class SumArguments {
  gradients: usize;
  chunks: i32;
  batch: i32;
  length: i32;
  states: i32;
}

/** dB and dC of groups `from` to `to` of all groups of the batch: the chunks' parts, added in their order. */
export function sumScanGradients(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<SumArguments>(args + 2 * 16);
  const groups = groupsOf(p.states);
  const chunk = pairsOf(0, p.batch, p.length, groups);
  for (let item = from; item < to; item++) {
    const batch = item / groups;
    const group = item - batch * groups;
    const part = pairsOf(p.gradients, batch, p.length, groups) + GROUP * group;
    const lanes = min(4, p.states - 4 * group);
    for (let k = 0; k < 2; k++) {
      const to = sequences(args, k);
      if (to.address) sumGroup(to, to.at(batch, 4 * group, 0), part + 16 * k, chunk, p, lanes);
    }
  }
}

function sumGroup(x: Sequences, at: usize, part: usize, chunk: usize, p: SumArguments, lanes: i32): void {
  const row = GROUP * groupsOf(p.states);
  const rowStep = x.rowStep;
  const step = x.step;
  const length = p.length;
  const end = chunk * p.chunks;
  for (let t = 0; t < length; t++, part += row, at += step) {
    let sum = v128.load(part);
    for (let from = chunk; from < end; from += chunk) sum = f32x4.add(sum, v128.load(part + from));
    v128.store_lane<f32>(at, sum, 0);
    if (lanes > 1) v128.store_lane<f32>(at + rowStep, sum, 1);
    if (lanes > 2) v128.store_lane<f32>(at + 2 * rowStep, sum, 2);
    if (lanes > 3) v128.store_lane<f32>(at + 3 * rowStep, sum, 3);
  }
}
