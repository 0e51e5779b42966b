/** Rotary position embedding, and its gradient; an item is a token. */
import { contiguous, loadFew, scatter, storeFew } from './rows';
import { madd } from './simd';

/** x and y (B, M, E), the angles' cos and sin (M', E), contiguous. E is even. */
@unmanaged
class RopeArguments {
  x: usize;
  xBatch: isize;
  xToken: isize;
  xStep: isize;
  y: usize;
  yBatch: isize;
  yToken: isize;
  yStep: isize;
  cos: usize;
  sin: usize;
  tokens: i32;
  width: i32;
  /** Turns the other way round, as gradients do. */
  backward: i32;
}

/** Items: tokens of all batch elements; the first of an odd number is left as it is. `scratch` holds two rows. */
export function rope(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<RopeArguments>(args);
  const room = scratch + (<usize>p.width << 2);
  for (let item = from; item < to; item++) {
    const b = item / p.tokens;
    const m = item % p.tokens;
    const x = contiguous(p.x + p.xBatch * b + p.xToken * m, p.xStep, p.width, scratch);
    const target = p.y + p.yBatch * b + p.yToken * m;
    const y = p.yStep == 4 ? target : room;
    const angles = (<usize>(m - (p.tokens & 1)) * p.width) << 2;
    if (m < (p.tokens & 1)) memory.copy(y, x, <usize>p.width << 2);
    else turn(x, y, p.cos + angles, p.sin + angles, p.width, p.backward);
    if (p.yStep != 4) scatter(y, target, p.yStep, p.width);
  }
}

function turn(x: usize, y: usize, cos: usize, sin: usize, width: i32, backward: i32): void {
  const end = x + (<usize>(width & ~3) << 2);
  for (; x < end; x += 16, y += 16, cos += 16, sin += 16) {
    v128.store(y, turned(v128.load(x), v128.load(cos), v128.load(sin), backward));
  }
  if (width & 3) storeFew(y, turned(loadFew(x, 2), loadFew(cos, 2), loadFew(sin, 2), backward), 2);
}

/** (x0 cos0 - x1 sin0, x1 cos1 + x0 sin1) of two pairs; backward (x0 cos0 + x1 sin1, x1 cos1 - x0 sin0). */
// @ts-ignore: decorator
@inline
function turned(x: v128, cos: v128, sin: v128, backward: i32): v128 {
  const signed = v128.xor(sin, i32x4(0x80000000, 0, 0x80000000, 0));
  return madd(x, cos, f32x4.mul(swap(x), backward ? swap(signed) : signed));
}

/** The elements of each pair in turn. */
// @ts-ignore: decorator
@inline
function swap(v: v128): v128 {
  return v128.shuffle<f32>(v, v, 1, 0, 3, 2);
}
