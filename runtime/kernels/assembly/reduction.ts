/** Sums over axes, in float64 until the result is written. */
import { contiguous } from './rows';
import { high, low, sum } from './sums';

/** y (rows, columns) = the sum of x (rows, columns, outer, inner) over its last two axes, by the divisor. */
@unmanaged
class SumArguments {
  y: usize;
  yRow: isize;
  yColumn: isize;
  x: usize;
  xRow: isize;
  xColumn: isize;
  xOuter: isize;
  xInner: isize;
  columns: i32;
  outer: i32;
  inner: i32;
  divisor: i32;
}

/** Columns that are summed at once: a cache line. */
const COLUMNS: i32 = 16;
/** Elements that are made contiguous at once. */
const PIECE: i32 = 1024;

/** Items: elements of y, each the sum over rows of x. `scratch` holds 1024 floats. */
export function sumRows(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<SumArguments>(args);
  for (let item = from; item < to; item++) {
    const row = item / p.columns;
    const column = item % p.columns;
    let x = p.x + p.xRow * row + p.xColumn * column;
    let total: f64 = 0;
    for (let i = 0; i < p.outer; i++, x += p.xOuter) {
      for (let k = 0; k < p.inner; k += PIECE) {
        const count = min(PIECE, p.inner - k);
        total += sum(contiguous(x + p.xInner * k, p.xInner, count, scratch), count);
      }
    }
    store<f32>(p.y + p.yRow * row + p.yColumn * column, <f32>(total / p.divisor));
  }
}

/** The same where columns of x lie side by side. Items: sixteen columns of one row of y. */
export function sumColumns(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<SumArguments>(args);
  const blocks = (p.columns + COLUMNS - 1) / COLUMNS;
  for (let item = from; item < to; item++) {
    const row = item / blocks;
    const first = (item % blocks) * COLUMNS;
    const x = p.x + p.xRow * row + (<usize>first << 2);
    const y = p.y + p.yRow * row + p.yColumn * first;
    const width = min(COLUMNS, p.columns - first);
    if (width == COLUMNS) sumBlock(p, x, y);
    else for (let j = 0; j < width; j++) sumColumn(p, x + (<usize>j << 2), y + p.yColumn * j);
  }
}

function sumBlock(p: SumArguments, x: usize, y: usize): void {
  let s0 = f64x2.splat(0);
  let s1 = f64x2.splat(0);
  let s2 = f64x2.splat(0);
  let s3 = f64x2.splat(0);
  let s4 = f64x2.splat(0);
  let s5 = f64x2.splat(0);
  let s6 = f64x2.splat(0);
  let s7 = f64x2.splat(0);
  const step = p.xInner;
  for (let i = 0; i < p.outer; i++, x += p.xOuter) {
    let at = x;
    for (let k = p.inner; k > 0; k--, at += step) {
      let v = v128.load(at);
      s0 = f64x2.add(s0, low(v));
      s1 = f64x2.add(s1, high(v));
      v = v128.load(at, 16);
      s2 = f64x2.add(s2, low(v));
      s3 = f64x2.add(s3, high(v));
      v = v128.load(at, 32);
      s4 = f64x2.add(s4, low(v));
      s5 = f64x2.add(s5, high(v));
      v = v128.load(at, 48);
      s6 = f64x2.add(s6, low(v));
      s7 = f64x2.add(s7, high(v));
    }
  }
  const step4 = p.yColumn << 2;
  storeFour(y, p.yColumn, s0, s1, p.divisor);
  storeFour(y + step4, p.yColumn, s2, s3, p.divisor);
  storeFour(y + 2 * step4, p.yColumn, s4, s5, p.divisor);
  storeFour(y + 3 * step4, p.yColumn, s6, s7, p.divisor);
}

// @ts-ignore: decorator
@inline
function storeFour(y: usize, step: isize, a: v128, b: v128, divisor: f64): void {
  store<f32>(y, <f32>(f64x2.extract_lane(a, 0) / divisor));
  store<f32>(y + step, <f32>(f64x2.extract_lane(a, 1) / divisor));
  store<f32>(y + 2 * step, <f32>(f64x2.extract_lane(b, 0) / divisor));
  store<f32>(y + 3 * step, <f32>(f64x2.extract_lane(b, 1) / divisor));
}

function sumColumn(p: SumArguments, x: usize, y: usize): void {
  let total: f64 = 0;
  for (let i = 0; i < p.outer; i++, x += p.xOuter) {
    let at = x;
    for (let k = 0; k < p.inner; k++, at += p.xInner) total += <f64>load<f32>(at);
  }
  store<f32>(y, <f32>(total / p.divisor));
}
