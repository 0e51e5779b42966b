/**
 * RMSNorm and LayerNorm over the last axis, in float64 until the result is written, as the plain ones: rows of any
 * width and magnitude keep their digits.
 */
import { contiguous, scatter } from './rows';
import { loadPair, sum, sumSquares } from './sums';

/** x (B, M, E), and y alike; or dy and dx in the backward pass. */
@unmanaged
export class NormArguments {
  x: usize;
  xBatch: isize;
  xRow: isize;
  xStep: isize;
  /** y; dx in the backward pass, where 0 stands for none. */
  y: usize;
  yBatch: isize;
  yRow: isize;
  yStep: isize;
  /** (E), contiguous. */
  weight: usize;
  rows: i32;
  width: i32;
  /** LayerNorm takes the mean off, RMSNorm does not. */
  centered: i32;
  eps: f32;
  /** Forward only: (E), contiguous; 0 for none. */
  bias: usize;
}

/** n = (x - shift) scale has mean square 1, and mean 0 for LayerNorm. */
@unmanaged
export class Moments {
  shift: f64;
  scale: f64;
}

// @ts-ignore: decorator
@inline
export function measure(x: usize, p: NormArguments, moments: Moments): void {
  const width = <f64>p.width;
  const shift = p.centered ? sum(x, p.width) / width : 0;
  moments.shift = shift;
  moments.scale = 1 / Math.sqrt(sumSquares(x, p.width, shift) / width + <f64>p.eps);
}

/** y = n weight + bias. Items: rows of all batch elements. `scratch` holds two rows and 4 floats. */
export function norm(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<NormArguments>(args);
  const moments = changetype<Moments>(scratch);
  const roomX = scratch + offsetof<Moments>();
  const roomY = roomX + (<usize>p.width << 2);
  for (let item = from; item < to; item++) {
    const b = item / p.rows;
    const m = item % p.rows;
    const x = contiguous(p.x + p.xBatch * b + p.xRow * m, p.xStep, p.width, roomX);
    const target = p.y + p.yBatch * b + p.yRow * m;
    const y = p.yStep == 4 ? target : roomY;
    measure(x, p, moments);
    normalize(x, y, p.width, moments, p.weight, p.bias);
    if (p.yStep != 4) scatter(y, target, p.yStep, p.width);
  }
}

function normalize(x: usize, y: usize, width: i32, moments: Moments, weight: usize, bias: usize): void {
  const shift = f64x2.splat(moments.shift);
  const scale = f64x2.splat(moments.scale);
  const end = x + (<usize>(width & ~1) << 2);
  for (; x < end; x += 8, y += 8, weight += 8) {
    let v = f64x2.mul(f64x2.mul(f64x2.sub(loadPair(x), shift), scale), loadPair(weight));
    if (bias) {
      v = f64x2.add(v, loadPair(bias));
      bias += 8;
    }
    v128.store64_lane(y, f32x4.demote_f64x2_zero(v), 0);
  }
  if (width & 1) {
    const v = (<f64>load<f32>(x) - moments.shift) * moments.scale * <f64>load<f32>(weight);
    store<f32>(y, <f32>(bias ? v + <f64>load<f32>(bias) : v));
  }
}
