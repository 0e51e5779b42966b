/** Causal depthwise convolution, and the gradient of its weight; an item is a channel. */
import { contiguous, loadFew, scatter, storeFew } from './rows';
import { madd } from './simd';
import { dot, sum } from './sums';

/** y (B, D, L) = bias (D) + weight (D, W) over the last W steps of x (B, D, L). */
@unmanaged
class ConvolutionArguments {
  x: usize;
  xBatch: isize;
  xChannel: isize;
  xStep: isize;
  y: usize;
  yBatch: isize;
  yChannel: isize;
  yStep: isize;
  weight: usize;
  /** 0 for none. */
  bias: usize;
  channels: i32;
  length: i32;
  taps: i32;
}

/** Items: channels of all batch elements. `scratch` holds two rows. */
export function causalConv1d(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<ConvolutionArguments>(args);
  const room = scratch + (<usize>p.length << 2);
  for (let item = from; item < to; item++) {
    const b = item / p.channels;
    const d = item % p.channels;
    const x = contiguous(p.x + p.xBatch * b + p.xChannel * d, p.xStep, p.length, scratch);
    const target = p.y + p.yBatch * b + p.yChannel * d;
    const y = p.yStep == 4 ? target : room;
    const weight = p.weight + ((<usize>d * p.taps) << 2);
    const bias: f32 = p.bias ? load<f32>(p.bias + (<usize>d << 2)) : 0;
    const head = min(p.taps - 1, p.length);
    convolveHead(x, y, head, weight, p.taps, bias);
    const begin = y + (<usize>head << 2);
    if (p.taps == 4) convolveFour(x, begin, p.length - head, weight, bias);
    else convolve(x, begin, p.length - head, weight, p.taps, bias);
    if (p.yStep != 4) scatter(y, target, p.yStep, p.length);
  }
}

/** The first steps, which do not see all taps: what lies before the start adds nothing, not even 0 Inf. */
function convolveHead(x: usize, y: usize, count: i32, weight: usize, taps: i32, bias: f32): void {
  for (let t = 0; t < count; t++) {
    let total = bias;
    let w = weight + (<usize>(taps - 1 - t) << 2);
    for (let s = 0; s <= t; s++, w += 4) total += load<f32>(w) * load<f32>(x + (<usize>s << 2));
    store<f32>(y + (<usize>t << 2), total);
  }
}

/** Four taps, which stay in registers. */
function convolveFour(x: usize, y: usize, count: i32, weight: usize, bias: f32): void {
  const w0 = v128.load32_splat(weight);
  const w1 = v128.load32_splat(weight, 4);
  const w2 = v128.load32_splat(weight, 8);
  const w3 = v128.load32_splat(weight, 12);
  const start = f32x4.splat(bias);
  const end = y + (<usize>(count & ~3) << 2);
  for (; y < end; y += 16, x += 16) {
    let total = madd(w0, v128.load(x), start);
    total = madd(w1, v128.load(x, 4), total);
    total = madd(w2, v128.load(x, 8), total);
    v128.store(y, madd(w3, v128.load(x, 12), total));
  }
  convolveFew(x, y, count & 3, weight, 4, bias);
}

function convolve(x: usize, y: usize, count: i32, weight: usize, taps: i32, bias: f32): void {
  const end = y + (<usize>(count & ~3) << 2);
  for (; y < end; y += 16, x += 16) {
    let total = f32x4.splat(bias);
    for (let k = 0; k < taps; k++) {
      total = madd(v128.load32_splat(weight + (<usize>k << 2)), v128.load(x + (<usize>k << 2)), total);
    }
    v128.store(y, total);
  }
  convolveFew(x, y, count & 3, weight, taps, bias);
}

/** The last steps, fewer than four. */
function convolveFew(x: usize, y: usize, count: i32, weight: usize, taps: i32, bias: f32): void {
  if (!count) return;
  let total = f32x4.splat(bias);
  for (let k = 0; k < taps; k++, weight += 4, x += 4) {
    total = madd(v128.load32_splat(weight), loadFew(x, count), total);
  }
  storeFew(y, total, count);
}

/** dweight (D, W) and dbias (D) from x and dy (B, D, L). */
@unmanaged
class ConvolutionGradientArguments {
  x: usize;
  xBatch: isize;
  xChannel: isize;
  xStep: isize;
  dy: usize;
  dyBatch: isize;
  dyChannel: isize;
  dyStep: isize;
  /** 0 for one that is not needed. */
  dweight: usize;
  dbias: usize;
  batch: i32;
  length: i32;
  taps: i32;
}

/** Items: channels. `scratch` holds two rows and W + 1 sums in float64. */
export function causalConv1dGradient(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<ConvolutionGradientArguments>(args);
  const taps = p.taps;
  const roomX = scratch + (<usize>(taps + 1) << 3);
  const roomDy = roomX + (<usize>p.length << 2);
  for (let d = from; d < to; d++) {
    memory.fill(scratch, 0, <usize>(taps + 1) << 3);
    for (let b = 0; b < p.batch; b++) {
      const x = contiguous(p.x + p.xBatch * b + p.xChannel * d, p.xStep, p.length, roomX);
      const dy = contiguous(p.dy + p.dyBatch * b + p.dyChannel * d, p.dyStep, p.length, roomDy);
      if (p.dweight) {
        for (let k = 0; k < taps; k++) {
          const late = taps - 1 - k;
          if (late < p.length) addTo(scratch, k, dot(x, dy + (<usize>late << 2), p.length - late));
        }
      }
      if (p.dbias) addTo(scratch, taps, sum(dy, p.length));
    }
    if (p.dweight) {
      const dweight = p.dweight + ((<usize>d * taps) << 2);
      for (let k = 0; k < taps; k++) store<f32>(dweight + (<usize>k << 2), <f32>load<f64>(scratch + (<usize>k << 3)));
    }
    if (p.dbias) store<f32>(p.dbias + (<usize>d << 2), <f32>load<f64>(scratch + (<usize>taps << 3)));
  }
}

// @ts-ignore: decorator
@inline
function addTo(sums: usize, k: i32, value: f64): void {
  const at = sums + (<usize>k << 3);
  store<f64>(at, load<f64>(at) + value);
}
