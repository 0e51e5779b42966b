import { BLOCK, blockAt, Elements, PIECE } from './elements';
import { lanesMax, lanesMin } from './summary';

/** A float without its sign; as whole numbers these are in the order of magnitude, infinity and then NaN last. */
const MAGNITUDE: i32 = 0x7fffffff;

@unmanaged
class ExtremesArguments extends Elements {
  out: usize;
}

/**
 * Per 65,536 elements four floats: the smallest, the largest, and that of largest magnitude without its sign (NaN
 * if there is one; the first two are then without meaning). `scratch` holds one block.
 */
export function extremes(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<ExtremesArguments>(args);
  for (let item = from; item < to; item++) {
    const end = min(p.count, (item + 1) * PIECE);
    let low = f32x4.splat(Infinity);
    let high = f32x4.splat(-Infinity);
    let most = i32x4.splat(0);
    const mask = i32x4.splat(MAGNITUDE);
    for (let first = item * PIECE; first < end; first += BLOCK) {
      const n = min(BLOCK, end - first);
      let at = blockAt(p, first, n, scratch);
      const last = at + (<usize>n << 2);
      for (; at + 32 <= last; at += 32) {
        const x = v128.load(at);
        const y = v128.load(at, 16);
        low = f32x4.pmin(low, f32x4.pmin(x, y));
        high = f32x4.pmax(high, f32x4.pmax(x, y));
        most = i32x4.max_s(most, i32x4.max_s(v128.and(x, mask), v128.and(y, mask)));
      }
      for (; at < last; at += 4) {
        const x = v128.load32_splat(at);
        low = f32x4.pmin(low, x);
        high = f32x4.pmax(high, x);
        most = i32x4.max_s(most, v128.and(x, mask));
      }
    }
    const out = p.out + (<usize>item << 4);
    store<f32>(out, lanesMin(low));
    store<f32>(out, lanesMax(high), 4);
    store<i32>(out, mostOf(most), 8);
  }
}

// @ts-ignore: decorator
@inline
function mostOf(v: v128): i32 {
  const a = max(i32x4.extract_lane(v, 0), i32x4.extract_lane(v, 1));
  return max(a, max(i32x4.extract_lane(v, 2), i32x4.extract_lane(v, 3)));
}

/** Per 65,536 elements a word that is 0 when all are finite. `scratch` holds one block. */
export function nonFinite(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<ExtremesArguments>(args);
  for (let item = from; item < to; item++) {
    const end = min(p.count, (item + 1) * PIECE);
    // x - x is 0, or NaN where x is not finite.
    let even = i32x4.splat(0);
    let odd = even;
    for (let first = item * PIECE; first < end; first += BLOCK) {
      const n = min(BLOCK, end - first);
      let at = blockAt(p, first, n, scratch);
      const last = at + (<usize>n << 2);
      for (; at + 32 <= last; at += 32) {
        const x = v128.load(at);
        const y = v128.load(at, 16);
        even = v128.or(even, f32x4.sub(x, x));
        odd = v128.or(odd, f32x4.sub(y, y));
      }
      for (; at < last; at += 4) {
        const x = v128.load32_splat(at);
        even = v128.or(even, f32x4.sub(x, x));
      }
    }
    store<i32>(p.out + (<usize>item << 2), i32(v128.any_true(v128.or(even, odd))));
  }
}
