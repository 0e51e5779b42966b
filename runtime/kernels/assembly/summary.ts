import { BLOCK, blockAt, Elements, PIECE, touch } from './elements';

@unmanaged
class StatisticsArguments extends Elements {
  /** One record per item. */
  out: usize;
}

/** What is known of the elements so far, in float64; of the finite ones unless the name says otherwise. */
@unmanaged
class Totals {
  count: f64;
  nan: f64;
  posInf: f64;
  negInf: f64;
  zeros: f64;
  min: f64;
  max: f64;
  sum: f64;
  /** Sum of squared distances from the mean. */
  squares: f64;
}

/** Counts and statistics, one `Totals` per 65,536 elements. `scratch` holds two blocks. */
export function statistics(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<StatisticsArguments>(args);
  const spare = scratch + (BLOCK << 2);
  for (let item = from; item < to; item++) {
    const totals = changetype<Totals>(p.out + offsetof<Totals>() * item);
    clear(totals);
    const end = min(p.count, (item + 1) * PIECE);
    for (let first = item * PIECE; first < end; first += BLOCK) {
      const n = min(BLOCK, end - first);
      const block = blockAt(p, first, n, scratch);
      touch(block, <usize>n << 2, spare);
      addBlock(totals, block, n, spare);
    }
  }
}

function clear(t: Totals): void {
  memory.fill(changetype<usize>(t), 0, offsetof<Totals>());
  t.min = Infinity;
  t.max = -Infinity;
}

/** The sum of the block tells whether all of it is finite: finite float32 cannot overflow it. */
function addBlock(t: Totals, block: usize, n: i32, scratch: usize): void {
  const pilot = load<f32>(block);
  if (pilot - pilot == 0 && addFinite(t, block, n, pilot, 0)) return;
  const found = firstFinite(block, n);
  const stand: f32 = found < 0 ? 0 : load<f32>(block + (<usize>found << 2));
  const bad = replace(t, block, n, scratch, stand);
  if (bad < n) addFinite(t, scratch, n, stand, bad);
}

/**
 * Adds a block, or does nothing and returns false when not all of it is finite. `stands` of the elements stand in
 * for others and are equal to `pilot`. Distances from the pilot, an element of the block, keep a small spread around
 * a large mean exact.
 */
function addFinite(t: Totals, block: usize, n: i32, pilot: f32, stands: i32): boolean {
  const center = f64x2.splat(pilot);
  const zero = f32x4.splat(0);
  let low = f32x4.splat(Infinity);
  let high = f32x4.splat(-Infinity);
  let zeros4 = i32x4.splat(0);
  let sums = f64x2.splat(0);
  let squares0 = sums;
  let squares1 = sums;
  let squares2 = sums;
  let squares3 = sums;
  let at = block;
  const end = block + (<usize>n << 2);
  for (; at + 32 <= end; at += 32) {
    const x = v128.load(at);
    const y = v128.load(at, 16);
    low = f32x4.pmin(low, f32x4.pmin(x, y));
    high = f32x4.pmax(high, f32x4.pmax(x, y));
    zeros4 = i32x4.sub(zeros4, i32x4.add(f32x4.eq(x, zero), f32x4.eq(y, zero)));
    const a = f64x2.sub(f64x2.promote_low_f32x4(x), center);
    const b = f64x2.sub(f64x2.promote_low_f32x4(v128.load64_zero(at, 8)), center);
    const c = f64x2.sub(f64x2.promote_low_f32x4(y), center);
    const d = f64x2.sub(f64x2.promote_low_f32x4(v128.load64_zero(at, 24)), center);
    sums = f64x2.add(sums, f64x2.add(f64x2.add(a, b), f64x2.add(c, d)));
    squares0 = squareAdd(a, squares0);
    squares1 = squareAdd(b, squares1);
    squares2 = squareAdd(c, squares2);
    squares3 = squareAdd(d, squares3);
  }
  squares0 = f64x2.add(f64x2.add(squares0, squares1), f64x2.add(squares2, squares3));
  let sum = sumPair(sums);
  let squares = sumPair(squares0);
  let zeros = sumCounts(zeros4);
  let lowest = lanesMin(low);
  let highest = lanesMax(high);
  for (; at < end; at += 4) {
    const x = load<f32>(at);
    const d = <f64>x - <f64>pilot;
    sum += d;
    squares += d * d;
    zeros += i32(x == 0);
    lowest = x < lowest ? x : lowest;
    highest = x > highest ? x : highest;
  }
  if (sum - sum != 0) return false;
  t.zeros += <f64>(pilot == 0 ? zeros - stands : zeros);
  t.min = Math.min(t.min, lowest);
  t.max = Math.max(t.max, highest);
  const count = <f64>(n - stands);
  merge(t, count, sum + count * pilot, squares - (sum / count) * sum);
  return true;
}

/** Joins the sums of two sets of elements. */
function merge(t: Totals, count: f64, sum: f64, squares: f64): void {
  if (t.count > 0) {
    const apart = sum / count - t.sum / t.count;
    squares += t.squares + apart * apart * ((t.count * count) / (t.count + count));
  }
  t.squares = Math.max(squares, 0);
  t.count += count;
  t.sum += sum;
}

/** Position of the first finite element of a block, or -1. */
function firstFinite(block: usize, n: i32): i32 {
  for (let i = 0; i < n; i++) {
    const x = load<f32>(block + (<usize>i << 2));
    if (x - x == 0) return i;
  }
  return -1;
}

/** Copies a block with `stand` in the place of NaN and infinities, and counts these. */
function replace(t: Totals, block: usize, n: i32, copy: usize, stand: f32): i32 {
  const stands = f32x4.splat(stand);
  const infinity = f32x4.splat(Infinity);
  let nan4 = i32x4.splat(0);
  let pos4 = nan4;
  let neg4 = nan4;
  let i = 0;
  for (; i + 4 <= n; i += 4) {
    const x = v128.load(block + (<usize>i << 2));
    nan4 = i32x4.sub(nan4, f32x4.ne(x, x));
    pos4 = i32x4.sub(pos4, f32x4.eq(x, infinity));
    neg4 = i32x4.sub(neg4, f32x4.eq(x, f32x4.neg(infinity)));
    const finite = f32x4.lt(f32x4.abs(x), infinity);
    v128.store(copy + (<usize>i << 2), v128.bitselect(x, stands, finite));
  }
  let nan = sumCounts(nan4);
  let pos = sumCounts(pos4);
  let neg = sumCounts(neg4);
  for (; i < n; i++) {
    const x = load<f32>(block + (<usize>i << 2));
    nan += i32(x != x);
    pos += i32(x == Infinity);
    neg += i32(x == -Infinity);
    store<f32>(copy + (<usize>i << 2), x - x == 0 ? x : stand);
  }
  t.nan += nan;
  t.posInf += pos;
  t.negInf += neg;
  return nan + pos + neg;
}

// @ts-ignore: decorator
@inline
function squareAdd(x: v128, sum: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f64x2.relaxed_madd(x, x, sum);
  return f64x2.add(f64x2.mul(x, x), sum);
}

// @ts-ignore: decorator
@inline
function sumPair(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}

// @ts-ignore: decorator
@inline
function sumCounts(v: v128): i32 {
  return (
    i32x4.extract_lane(v, 0) + i32x4.extract_lane(v, 1) + i32x4.extract_lane(v, 2) + i32x4.extract_lane(v, 3)
  );
}

/** The smallest of four lanes, none of which is NaN. */
// @ts-ignore: decorator
@inline
export function lanesMin(v: v128): f32 {
  const a = Mathf.min(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1));
  return Mathf.min(a, Mathf.min(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)));
}

/** The largest of four lanes, none of which is NaN. */
// @ts-ignore: decorator
@inline
export function lanesMax(v: v128): f32 {
  const a = Mathf.max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1));
  return Mathf.max(a, Mathf.max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)));
}
