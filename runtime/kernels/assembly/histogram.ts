import { BLOCK, blockAt, Elements, touch } from './elements';

/** Bins up to which two elements share a counter. */
const PAIR_BINS: i32 = 64;
/** Bytes of the counters, 16 bits each, for all pairs of bins. */
const TABLE: i32 = 2 * PAIR_BINS * PAIR_BINS;

/** Bytes of scratch between the block and the tables. */
const SLOTS: i32 = 64;

/** An element's bin is trunc((x unit - low) scale) in float32, at most bins - 1. */
@unmanaged
class HistogramArguments extends Elements {
  /** Per item one 32-bit counter for each bin. */
  out: usize;
  bins: i32;
  low: f32;
  scale: f32;
  unit: f32;
  /** Elements per item: a multiple of a block; at most 458,752 for pairs, so that 16 bits suffice. */
  piece: i32;
  /** Whether to count in pairs, which is faster for many elements: needs unit = 1 and at most 64 bins. */
  pairs: i32;
}

/**
 * How many elements are in each bin. NaN and infinity are counted in the last one, minus infinity in the first.
 * `scratch` holds a block, 16 words and, for pairs, four tables.
 */
export function histogram(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<HistogramArguments>(args);
  const slots = scratch + (BLOCK << 2);
  const tables = slots + SLOTS;
  for (let item = from; item < to; item++) {
    const out = p.out + ((<usize>item * p.bins) << 2);
    memory.fill(out, 0, <usize>p.bins << 2);
    if (p.pairs) memory.fill(tables, 0, 4 * TABLE);
    const end = min(p.count, (item + 1) * p.piece);
    for (let first = item * p.piece; first < end; first += BLOCK) {
      const n = min(BLOCK, end - first);
      const block = blockAt(p, first, n, scratch);
      touch(block, <usize>n << 2, slots);
      const done = p.pairs ? countPairs(p, block, n, tables, slots) : 0;
      countSingly(p, block + (<usize>done << 2), n - done, out);
    }
    if (p.pairs) addPairs(tables, p.bins, out);
  }
}

/**
 * Counts elements by eights, each with the fourth after it, in one of four tables of pairs, so that equal
 * neighbours do not wait for each other's counter. Returns how many it has counted.
 */
function countPairs(p: HistogramArguments, block: usize, n: i32, tables: usize, slots: usize): i32 {
  const low = f32x4.splat(p.low);
  const scale = f32x4.splat(p.scale);
  const top = f32x4.splat(<f32>(p.bins - 1));
  const table = i32x4.add(i32x4.splat(<i32>tables), i32x4(0, TABLE, 2 * TABLE, 3 * TABLE));
  const end = block + (<usize>(n & ~7) << 2);
  for (; block < end; block += 32) {
    const x = binOf(f32x4.mul(f32x4.sub(v128.load(block), low), scale), top);
    const y = binOf(f32x4.mul(f32x4.sub(v128.load(block, 16), low), scale), top);
    v128.store(slots, i32x4.add(i32x4.add(i32x4.shl(x, 7), i32x4.shl(y, 1)), table));
    countOne(load<u32>(slots));
    countOne(load<u32>(slots, 4));
    countOne(load<u32>(slots, 8));
    countOne(load<u32>(slots, 12));
  }
  return n & ~7;
}

/** The operands' order sends NaN to the last bin. Between 0 and `top` all conversions agree. */
// @ts-ignore: decorator
@inline
function binOf(place: v128, top: v128): v128 {
  const inside = f32x4.pmax(f32x4.splat(0), f32x4.pmin(top, place));
  if (ASC_FEATURE_RELAXED_SIMD) return i32x4.relaxed_trunc_f32x4_s(inside);
  return i32x4.trunc_sat_f32x4_s(inside);
}

// @ts-ignore: decorator
@inline
function countOne(slot: usize): void {
  store<u16>(slot, load<u16>(slot) + 1);
}

function countSingly(p: HistogramArguments, block: usize, n: i32, out: usize): void {
  const low = f32x4.splat(p.low);
  const scale = f32x4.splat(p.scale);
  const unit = f32x4.splat(p.unit);
  const top = f32x4.splat(<f32>(p.bins - 1));
  const end = block + (<usize>n << 2);
  for (; block + 16 <= end; block += 16) {
    const x = f32x4.mul(v128.load(block), unit);
    const slots = i32x4.shl(binOf(f32x4.mul(f32x4.sub(x, low), scale), top), 2);
    addTo(out + i32x4.extract_lane(slots, 0), 1);
    addTo(out + i32x4.extract_lane(slots, 1), 1);
    addTo(out + i32x4.extract_lane(slots, 2), 1);
    addTo(out + i32x4.extract_lane(slots, 3), 1);
  }
  for (; block < end; block += 4) {
    const x = f32x4.mul(v128.load32_splat(block), unit);
    addTo(out + (i32x4.extract_lane(binOf(f32x4.mul(f32x4.sub(x, low), scale), top), 0) << 2), 1);
  }
}

// @ts-ignore: decorator
@inline
function addTo(slot: usize, n: i32): void {
  store<i32>(slot, load<i32>(slot) + n);
}

/** Each counter of the tables counts for both bins of its pair. */
function addPairs(tables: usize, bins: i32, out: usize): void {
  for (let first = 0; first < bins; first++) {
    let row = i32x4.splat(0);
    for (let second = 0; second < bins; second += 8) {
      const at = tables + (first << 7) + (second << 1);
      let low = i32x4.splat(0);
      let high = low;
      for (let table = at; table < at + 4 * TABLE; table += TABLE) {
        const counts = v128.load(table);
        low = i32x4.add(low, i32x4.extend_low_i16x8_u(counts));
        high = i32x4.add(high, i32x4.extend_high_i16x8_u(counts));
      }
      row = i32x4.add(row, i32x4.add(low, high));
      addSecond(low, second, bins, out);
      addSecond(high, second + 4, bins, out);
    }
    const sum = i32x4.add(row, i8x16.shuffle(row, row, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    addTo(out + (first << 2), i32x4.extract_lane(sum, 0) + i32x4.extract_lane(sum, 1));
  }
}

// @ts-ignore: decorator
@inline
function addSecond(counts: v128, second: i32, bins: i32, out: usize): void {
  const slot = out + (second << 2);
  if (second + 4 <= bins) v128.store(slot, i32x4.add(v128.load(slot), counts));
  else {
    if (second < bins) addTo(slot, i32x4.extract_lane(counts, 0));
    if (second + 1 < bins) addTo(slot + 4, i32x4.extract_lane(counts, 1));
    if (second + 2 < bins) addTo(slot + 8, i32x4.extract_lane(counts, 2));
  }
}
