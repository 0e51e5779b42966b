import { madd } from './simd';

/** Rows of A and columns of B whose products are summed at once: twelve sums of four lanes and what they need. */
const ROWS: i32 = 6;
const COLUMNS: i32 = 8;
/** Rows of B in one go, so that a panel of them stays in the first cache. */
const DEPTH: i32 = 512;

/** C (M, N) = A (M, K) B (K, N) + bias. Addresses and steps are in bytes; rows of C are contiguous. */
@unmanaged
class MatmulArguments {
  a: usize;
  /** From row to row, and along a row. */
  aRow: isize;
  aStep: isize;
  b: usize;
  bRow: isize;
  bStep: isize;
  c: usize;
  cRow: isize;
  /** 0 for none. */
  bias: usize;
  /** The bias belongs to rows of C, not to columns. */
  biasOfRows: i32;
  M: i32;
  N: i32;
  K: i32;
  /** Panels of B and rows of A of one item: with more panels, A is read from far memory less often. */
  panels: i32;
  rows: i32;
}

/**
 * Items `from` to `to` of C: item i is `panels` panels of columns and `rows` rows of C, rows first. `scratch` holds
 * 8 zeros, a block of 48, and the packed panels, of 8 min(K, 512) floats each.
 */
export function matmul(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<MatmulArguments>(args);
  v128.store(scratch, f32x4.splat(0));
  v128.store(scratch, f32x4.splat(0), 16);
  const rowItems = (p.M + p.rows - 1) / p.rows;
  const allPanels = (p.N + COLUMNS - 1) / COLUMNS;
  for (let item = from; item < to; item++) {
    const panel = (item / rowItems) * p.panels;
    const row = (item % rowItems) * p.rows;
    multiplyItem(p, panel, min(panel + p.panels, allPanels), row, min(row + p.rows, p.M), scratch);
  }
}

function multiplyItem(
  p: MatmulArguments,
  firstPanel: i32,
  endPanel: i32,
  firstRow: i32,
  endRow: i32,
  scratch: usize,
): void {
  const packed = scratch + ((COLUMNS + ROWS * COLUMNS) << 2);
  const size = (<usize>COLUMNS * min(p.K, DEPTH)) << 2;
  // One round even for K = 0, which gives the bias.
  for (let k = 0; k == 0 || k < p.K; k += DEPTH) {
    const depth = min(DEPTH, p.K - k);
    for (let i = firstPanel; i < endPanel; i++) {
      const n = i * COLUMNS;
      const width = min(COLUMNS, p.N - n);
      const from = p.b + p.bStep * n + p.bRow * k;
      packPanel(from, p.bRow, p.bStep, packed + size * (i - firstPanel), depth, width);
    }
    for (let m = firstRow; m < endRow; m += ROWS) {
      const height = min(ROWS, endRow - m);
      const a = p.a + p.aRow * m + p.aStep * k;
      for (let i = firstPanel; i < endPanel; i++)
        addProduct(p, a, m, height, i * COLUMNS, k > 0, depth, packed + size * (i - firstPanel), scratch);
    }
  }
}

/** Columns of B as rows of eight neighbours; missing ones are 0. */
function packPanel(b: usize, row: isize, step: isize, packed: usize, depth: i32, width: i32): void {
  if (width == COLUMNS && step == 4) {
    for (let k = 0; k < depth; k++, b += row, packed += COLUMNS << 2) {
      v128.store(packed, v128.load(b));
      v128.store(packed, v128.load(b, 16), 16);
    }
    return;
  }
  if (width == COLUMNS && row == 4) {
    for (let j = 0; j < COLUMNS; j += 4) packTransposed(b + step * j, step, packed + (j << 2), depth);
    return;
  }
  for (let k = 0; k < depth; k++, b += row, packed += COLUMNS << 2) {
    for (let j = 0; j < COLUMNS; j++) {
      store<f32>(packed + (j << 2), j < width ? load<f32>(b + step * j) : 0);
    }
  }
}

/** Four contiguous columns, turned four by four into rows that are eight apart. */
function packTransposed(b: usize, step: isize, packed: usize, depth: i32): void {
  let k = 0;
  for (; k + 4 <= depth; k += 4, b += 16, packed += COLUMNS << 4) {
    const x0 = v128.load(b);
    const x1 = v128.load(b + step);
    const x2 = v128.load(b + 2 * step);
    const x3 = v128.load(b + 3 * step);
    const low01 = v128.shuffle<f32>(x0, x1, 0, 4, 1, 5);
    const low23 = v128.shuffle<f32>(x2, x3, 0, 4, 1, 5);
    const high01 = v128.shuffle<f32>(x0, x1, 2, 6, 3, 7);
    const high23 = v128.shuffle<f32>(x2, x3, 2, 6, 3, 7);
    v128.store(packed, v128.shuffle<f32>(low01, low23, 0, 1, 4, 5));
    v128.store(packed, v128.shuffle<f32>(low01, low23, 2, 3, 6, 7), 32);
    v128.store(packed, v128.shuffle<f32>(high01, high23, 0, 1, 4, 5), 64);
    v128.store(packed, v128.shuffle<f32>(high01, high23, 2, 3, 6, 7), 96);
  }
  for (; k < depth; k++, b += 4, packed += COLUMNS << 2) {
    for (let j = 0; j < 4; j++) store<f32>(packed + (j << 2), load<f32>(b + step * j));
  }
}

/** `height` rows of C from m and columns n to n + 8: `depth` rows of B add to what earlier ones gave, if any. */
// @ts-ignore: decorator
@inline
function addProduct(
  p: MatmulArguments,
  a: usize,
  m: i32,
  height: i32,
  n: i32,
  more: boolean,
  depth: i32,
  panel: usize,
  scratch: usize,
): void {
  const width = min(COLUMNS, p.N - n);
  const cRow = p.cRow;
  const c = p.c + cRow * m + (<usize>n << 2);
  const bias = p.bias;
  let start = scratch;
  let startRow: isize = 0;
  let one = false;
  if (more) {
    start = c;
    startRow = cRow;
  } else if (bias && p.biasOfRows) {
    start = bias + (<usize>m << 2);
    startRow = 4;
    one = true;
  } else if (bias) {
    start = bias + (<usize>n << 2);
  }
  if (width == COLUMNS) {
    multiplyBlock(height, a, p.aRow, p.aStep, panel, c, cRow, depth, start, startRow, one);
    return;
  }
  const block = scratch + (COLUMNS << 2);
  if (more) {
    copyBlock(c, cRow, block, COLUMNS << 2, height, width);
    start = block;
    startRow = COLUMNS << 2;
  }
  multiplyBlock(height, a, p.aRow, p.aStep, panel, block, COLUMNS << 2, depth, start, startRow, one);
  copyBlock(block, COLUMNS << 2, c, cRow, height, width);
}

function copyBlock(from: usize, fromRow: isize, to: usize, toRow: isize, height: i32, width: i32): void {
  for (let i = 0; i < height; i++, from += fromRow, to += toRow) {
    for (let j = 0; j < width; j++) store<f32>(to + (j << 2), load<f32>(from + (j << 2)));
  }
}

/** The sums begin at `start`, whose rows are `startRow` apart; with `one`, a row of it is one number. */
function multiplyBlock(
  height: i32,
  a: usize,
  aRow: isize,
  aStep: isize,
  packed: usize,
  c: usize,
  cRow: isize,
  depth: i32,
  start: usize,
  startRow: isize,
  one: boolean,
): void {
  if (height == 6) multiplyRows(6, a, aRow, aStep, packed, c, cRow, depth, start, startRow, one);
  else if (height == 5) multiplyRows(5, a, aRow, aStep, packed, c, cRow, depth, start, startRow, one);
  else if (height == 4) multiplyRows(4, a, aRow, aStep, packed, c, cRow, depth, start, startRow, one);
  else if (height == 3) multiplyRows(3, a, aRow, aStep, packed, c, cRow, depth, start, startRow, one);
  else if (height == 2) multiplyRows(2, a, aRow, aStep, packed, c, cRow, depth, start, startRow, one);
  else multiplyRows(1, a, aRow, aStep, packed, c, cRow, depth, start, startRow, one);
}

/** Adds `count` rows of A times a panel to C. `count` is a constant of each call, so that its tests go away. */
// @ts-ignore: decorator
@inline
function multiplyRows(
  count: i32,
  a: usize,
  aRow: isize,
  aStep: isize,
  packed: usize,
  c: usize,
  cRow: isize,
  depth: i32,
  start: usize,
  startRow: isize,
  one: boolean,
): void {
  let a0 = a;
  let a1 = a + aRow;
  let a2 = a + 2 * aRow;
  let a3 = a + 3 * aRow;
  let a4 = a + 4 * aRow;
  let a5 = a + 5 * aRow;
  let c00 = begin(start, one);
  let c01 = one ? c00 : v128.load(start, 16);
  let c10 = count > 1 ? begin(start + startRow, one) : c00;
  let c11 = count > 1 && !one ? v128.load(start + startRow, 16) : c10;
  let c20 = count > 2 ? begin(start + 2 * startRow, one) : c00;
  let c21 = count > 2 && !one ? v128.load(start + 2 * startRow, 16) : c20;
  let c30 = count > 3 ? begin(start + 3 * startRow, one) : c00;
  let c31 = count > 3 && !one ? v128.load(start + 3 * startRow, 16) : c30;
  let c40 = count > 4 ? begin(start + 4 * startRow, one) : c00;
  let c41 = count > 4 && !one ? v128.load(start + 4 * startRow, 16) : c40;
  let c50 = count > 5 ? begin(start + 5 * startRow, one) : c00;
  let c51 = count > 5 && !one ? v128.load(start + 5 * startRow, 16) : c50;
  const end = packed + ((<usize>depth * COLUMNS) << 2);
  while (packed < end) {
    const b0 = v128.load(packed);
    const b1 = v128.load(packed, 16);
    let x = v128.load32_splat(a0);
    c00 = madd(x, b0, c00);
    c01 = madd(x, b1, c01);
    a0 += aStep;
    if (count > 1) {
      x = v128.load32_splat(a1);
      c10 = madd(x, b0, c10);
      c11 = madd(x, b1, c11);
      a1 += aStep;
    }
    if (count > 2) {
      x = v128.load32_splat(a2);
      c20 = madd(x, b0, c20);
      c21 = madd(x, b1, c21);
      a2 += aStep;
    }
    if (count > 3) {
      x = v128.load32_splat(a3);
      c30 = madd(x, b0, c30);
      c31 = madd(x, b1, c31);
      a3 += aStep;
    }
    if (count > 4) {
      x = v128.load32_splat(a4);
      c40 = madd(x, b0, c40);
      c41 = madd(x, b1, c41);
      a4 += aStep;
    }
    if (count > 5) {
      x = v128.load32_splat(a5);
      c50 = madd(x, b0, c50);
      c51 = madd(x, b1, c51);
      a5 += aStep;
    }
    packed += COLUMNS << 2;
  }
  v128.store(c, c00);
  v128.store(c, c01, 16);
  if (count > 1) {
    v128.store(c + cRow, c10);
    v128.store(c + cRow, c11, 16);
  }
  if (count > 2) {
    v128.store(c + 2 * cRow, c20);
    v128.store(c + 2 * cRow, c21, 16);
  }
  if (count > 3) {
    v128.store(c + 3 * cRow, c30);
    v128.store(c + 3 * cRow, c31, 16);
  }
  if (count > 4) {
    v128.store(c + 4 * cRow, c40);
    v128.store(c + 4 * cRow, c41, 16);
  }
  if (count > 5) {
    v128.store(c + 5 * cRow, c50);
    v128.store(c + 5 * cRow, c51, 16);
  }
}

// @ts-ignore: decorator
@inline
function begin(start: usize, one: boolean): v128 {
  return one ? v128.load32_splat(start) : v128.load(start);
}
