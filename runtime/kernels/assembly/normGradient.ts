/** The backward pass of RMSNorm and LayerNorm, in float64 until the result is written. */
import { Moments, measure, NormArguments } from './norm';
import { contiguous, scatter } from './rows';
import { loadPair, sumPair } from './sums';

@unmanaged
class NormGradientArguments extends NormArguments {
  dy: usize;
  dyBatch: isize;
  dyRow: isize;
  dyStep: isize;
  /** For each share of rows: the sums of dy n (E), then those of dy (E), in float64. */
  sums: usize;
  /** Rows of a share, and of all batch elements. */
  share: i32;
  allRows: i32;
}

/**
 * With dn = dy weight: dx = scale (dn - mean(dn) - n mean(dn n)), the first mean only for LayerNorm; and sums for
 * the gradients of weight and bias. Items: shares of rows. `scratch` holds three rows and 4 floats.
 */
export function normGradient(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<NormGradientArguments>(args);
  const moments = changetype<Moments>(scratch);
  const bytes = <usize>p.width << 2;
  const roomX = scratch + offsetof<Moments>();
  const roomDy = roomX + bytes;
  for (let item = from; item < to; item++) {
    const sums = p.sums + 4 * bytes * item;
    memory.fill(sums, 0, 4 * bytes);
    const end = min(p.allRows, (item + 1) * p.share);
    for (let row = item * p.share; row < end; row++) {
      const b = row / p.rows;
      const m = row % p.rows;
      const x = contiguous(p.x + p.xBatch * b + p.xRow * m, p.xStep, p.width, roomX);
      const dy = contiguous(p.dy + p.dyBatch * b + p.dyRow * m, p.dyStep, p.width, roomDy);
      measure(x, p, moments);
      addSums(x, dy, p.width, moments, sums);
      if (!p.y) continue;
      const target = p.y + p.yBatch * b + p.yRow * m;
      const dx = p.yStep == 4 ? target : roomDy + bytes;
      inputGradient(x, dy, dx, p, moments);
      if (p.yStep != 4) scatter(dx, target, p.yStep, p.width);
    }
  }
}

/** Adds dy n and dy of one row to the sums. */
function addSums(x: usize, dy: usize, width: i32, moments: Moments, sums: usize): void {
  const shift = f64x2.splat(moments.shift);
  const scale = f64x2.splat(moments.scale);
  const end = x + (<usize>(width & ~1) << 2);
  const ofBias = <usize>width << 3;
  for (; x < end; x += 8, dy += 8, sums += 16) {
    const d = loadPair(dy);
    const n = f64x2.mul(f64x2.sub(loadPair(x), shift), scale);
    v128.store(sums, f64x2.add(v128.load(sums), f64x2.mul(d, n)));
    v128.store(sums + ofBias, f64x2.add(v128.load(sums + ofBias), d));
  }
  if (width & 1) {
    const d = <f64>load<f32>(dy);
    const n = (<f64>load<f32>(x) - moments.shift) * moments.scale;
    store<f64>(sums, load<f64>(sums) + d * n);
    store<f64>(sums + ofBias, load<f64>(sums + ofBias) + d);
  }
}

/** dx of one row. */
function inputGradient(x: usize, dy: usize, dx: usize, p: NormArguments, moments: Moments): void {
  const shift = f64x2.splat(moments.shift);
  const scale = f64x2.splat(moments.scale);
  const pairs = <usize>(p.width & ~1) << 2;
  const weight = p.weight;
  let sumDn = f64x2.splat(0);
  let along = f64x2.splat(0);
  for (let i: usize = 0; i < pairs; i += 8) {
    const dn = f64x2.mul(loadPair(dy + i), loadPair(weight + i));
    sumDn = f64x2.add(sumDn, dn);
    along = f64x2.add(along, f64x2.mul(dn, f64x2.mul(f64x2.sub(loadPair(x + i), shift), scale)));
  }
  let lastDn: f64 = 0;
  let lastN: f64 = 0;
  if (p.width & 1) {
    lastDn = <f64>load<f32>(dy + pairs) * <f64>load<f32>(weight + pairs);
    lastN = (<f64>load<f32>(x + pairs) - moments.shift) * moments.scale;
  }
  const width = <f64>p.width;
  const meanDn = p.centered ? (sumPair(sumDn) + lastDn) / width : 0;
  const meanAlong = (sumPair(along) + lastDn * lastN) / width;
  for (let i: usize = 0; i < pairs; i += 8) {
    const dn = f64x2.mul(loadPair(dy + i), loadPair(weight + i));
    const n = f64x2.mul(f64x2.sub(loadPair(x + i), shift), scale);
    const rest = f64x2.sub(f64x2.sub(dn, f64x2.splat(meanDn)), f64x2.mul(n, f64x2.splat(meanAlong)));
    v128.store64_lane(dx + i, f32x4.demote_f64x2_zero(f64x2.mul(scale, rest)), 0);
  }
  if (p.width & 1) store<f32>(dx + pairs, <f32>(moments.scale * (lastDn - meanDn - lastN * meanAlong)));
}
