import { madd } from './simd';

/** Rows of A and columns of B whose products are summed at once: twelve sums of four lanes fill the registers. */
const ROWS: i32 = 4;
const COLUMNS: i32 = 12;
/** Rows of B in one go, so that a panel of them stays in the first cache. */
const DEPTH: i32 = 512;

/** C (M, N) = A (M, K) B (K, N) + bias. Addresses and steps are in bytes; rows of C are contiguous. */
@unmanaged
class MatmulArguments {
  a: usize;
  /** From row to row, and along a row. One of the two is 4. */
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
  /** B as packed by `packPanels`, or 0. */
  panels: usize;
}

/** Columns `12 from` to `12 to` of C. `scratch` holds a panel and a block: (12 min(K, 512) + 48) floats. */
export function matmul(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<MatmulArguments>(args);
  const block = scratch + ((<usize>COLUMNS * min(p.K, DEPTH)) << 2);
  for (let panel = from; panel < to; panel++) {
    const n = panel * COLUMNS;
    const width = min(COLUMNS, p.N - n);
    for (let k = 0; k < p.K; k += DEPTH) {
      const depth = min(DEPTH, p.K - k);
      let packed = p.panels + (((<usize>panel * p.K + k) * COLUMNS) << 2);
      if (!p.panels) {
        packed = scratch;
        packPanel(p.b + p.bStep * n + p.bRow * k, p.bRow, p.bStep, packed, depth, width);
      }
      multiplyPanel(p, packed, n, width, k, depth, block);
    }
  }
}

/** Packs columns `12 from` to `12 to` of B, all rows, at `panels`. */
export function packPanels(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<MatmulArguments>(args);
  for (let panel = from; panel < to; panel++) {
    const n = panel * COLUMNS;
    const packed = p.panels + ((<usize>panel * p.K * COLUMNS) << 2);
    packPanel(p.b + p.bStep * n, p.bRow, p.bStep, packed, p.K, min(COLUMNS, p.N - n));
  }
}

/** Columns of B as rows of twelve neighbours; missing ones are 0. */
function packPanel(b: usize, row: isize, step: isize, packed: usize, depth: i32, width: i32): void {
  if (width == COLUMNS && step == 4) {
    for (let k = 0; k < depth; k++, b += row, packed += COLUMNS << 2) {
      v128.store(packed, v128.load(b));
      v128.store(packed, v128.load(b, 16), 16);
      v128.store(packed, v128.load(b, 32), 32);
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

/** Four contiguous columns, turned four by four into rows that are twelve apart. */
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
    v128.store(packed, v128.shuffle<f32>(low01, low23, 2, 3, 6, 7), 48);
    v128.store(packed, v128.shuffle<f32>(high01, high23, 0, 1, 4, 5), 96);
    v128.store(packed, v128.shuffle<f32>(high01, high23, 2, 3, 6, 7), 144);
  }
  for (; k < depth; k++, b += 4, packed += COLUMNS << 2) {
    for (let j = 0; j < 4; j++) store<f32>(packed + (j << 2), load<f32>(b + step * j));
  }
}

function multiplyPanel(
  p: MatmulArguments,
  packed: usize,
  n: i32,
  width: i32,
  k: i32,
  depth: i32,
  block: usize,
): void {
  for (let m = 0; m < p.M; m += ROWS) {
    const height = min(ROWS, p.M - m);
    const a = p.a + p.aRow * m + p.aStep * k;
    const c = p.c + p.cRow * m + (<usize>n << 2);
    const whole = height == ROWS && width == COLUMNS;
    const to = whole ? c : block;
    const row = whole ? p.cRow : COLUMNS << 2;
    begin(p, c, to, row, m, height, n, width, k > 0);
    if (p.aStep == 4) multiplyRows(a, p.aRow, height, packed, to, row, depth);
    else if (height == ROWS) multiplyColumns(a, p.aStep, packed, to, row, depth);
    else multiplyRest(a, p.aRow, p.aStep, height, packed, to, row, depth);
    if (!whole) copyBlock(block, c, p.cRow, height, width);
  }
}

/** What the sums start from: the bias, or what earlier rows of B gave. */
// @ts-ignore: decorator
@inline
function begin(
  p: MatmulArguments,
  c: usize,
  to: usize,
  row: isize,
  m: i32,
  height: i32,
  n: i32,
  width: i32,
  more: boolean,
): void {
  if (more) {
    if (to != c) loadBlock(c, p.cRow, to, height, width);
    return;
  }
  for (let i = 0; i < ROWS; i++, to += row) {
    if (!p.bias) {
      storeThree(to, f32x4.splat(0), f32x4.splat(0), f32x4.splat(0));
    } else if (p.biasOfRows) {
      const value = f32x4.splat(i < height ? load<f32>(p.bias + (<usize>(m + i) << 2)) : 0);
      storeThree(to, value, value, value);
    } else if (width == COLUMNS) {
      const from = p.bias + (<usize>n << 2);
      storeThree(to, v128.load(from), v128.load(from, 16), v128.load(from, 32));
    } else {
      for (let j = 0; j < width; j++) store<f32>(to + (j << 2), load<f32>(p.bias + (<usize>(n + j) << 2)));
    }
  }
}

// @ts-ignore: decorator
@inline
function storeThree(to: usize, x: v128, y: v128, z: v128): void {
  v128.store(to, x);
  v128.store(to, y, 16);
  v128.store(to, z, 32);
}

function loadBlock(c: usize, row: isize, block: usize, height: i32, width: i32): void {
  for (let i = 0; i < height; i++, c += row, block += COLUMNS << 2) {
    for (let j = 0; j < width; j++) store<f32>(block + (j << 2), load<f32>(c + (j << 2)));
  }
}

function copyBlock(block: usize, c: usize, row: isize, height: i32, width: i32): void {
  for (let i = 0; i < height; i++, c += row, block += COLUMNS << 2) {
    for (let j = 0; j < width; j++) store<f32>(c + (j << 2), load<f32>(block + (j << 2)));
  }
}

/** Adds up to four rows of A, each contiguous, times a panel. A missing row is the last one again, not read. */
function multiplyRows(
  a: usize,
  aRow: isize,
  height: i32,
  packed: usize,
  c: usize,
  cRow: isize,
  depth: i32,
): void {
  let a0 = a;
  let a1 = a + (height > 1 ? aRow : 0);
  let a2 = a + (height > 2 ? 2 * aRow : 0);
  let a3 = a + (height > 3 ? 3 * aRow : 0);
  let r = c;
  let c00 = v128.load(r);
  let c01 = v128.load(r, 16);
  let c02 = v128.load(r, 32);
  r += cRow;
  let c10 = v128.load(r);
  let c11 = v128.load(r, 16);
  let c12 = v128.load(r, 32);
  r += cRow;
  let c20 = v128.load(r);
  let c21 = v128.load(r, 16);
  let c22 = v128.load(r, 32);
  r += cRow;
  let c30 = v128.load(r);
  let c31 = v128.load(r, 16);
  let c32 = v128.load(r, 32);
  const end = a0 + (<usize>depth << 2);
  while (a0 < end) {
    const b0 = v128.load(packed);
    const b1 = v128.load(packed, 16);
    const b2 = v128.load(packed, 32);
    let x = v128.load32_splat(a0);
    c00 = madd(x, b0, c00);
    c01 = madd(x, b1, c01);
    c02 = madd(x, b2, c02);
    x = v128.load32_splat(a1);
    c10 = madd(x, b0, c10);
    c11 = madd(x, b1, c11);
    c12 = madd(x, b2, c12);
    x = v128.load32_splat(a2);
    c20 = madd(x, b0, c20);
    c21 = madd(x, b1, c21);
    c22 = madd(x, b2, c22);
    x = v128.load32_splat(a3);
    c30 = madd(x, b0, c30);
    c31 = madd(x, b1, c31);
    c32 = madd(x, b2, c32);
    packed += COLUMNS << 2;
    a0 += 4;
    a1 += 4;
    a2 += 4;
    a3 += 4;
  }
  r = c;
  storeThree(r, c00, c01, c02);
  r += cRow;
  storeThree(r, c10, c11, c12);
  r += cRow;
  storeThree(r, c20, c21, c22);
  r += cRow;
  storeThree(r, c30, c31, c32);
}

/** The same for four rows of A that lie side by side, `step` apart along a row. */
function multiplyColumns(a: usize, step: isize, packed: usize, c: usize, cRow: isize, depth: i32): void {
  let r = c;
  let c00 = v128.load(r);
  let c01 = v128.load(r, 16);
  let c02 = v128.load(r, 32);
  r += cRow;
  let c10 = v128.load(r);
  let c11 = v128.load(r, 16);
  let c12 = v128.load(r, 32);
  r += cRow;
  let c20 = v128.load(r);
  let c21 = v128.load(r, 16);
  let c22 = v128.load(r, 32);
  r += cRow;
  let c30 = v128.load(r);
  let c31 = v128.load(r, 16);
  let c32 = v128.load(r, 32);
  const end = packed + ((<usize>depth * COLUMNS) << 2);
  while (packed < end) {
    const b0 = v128.load(packed);
    const b1 = v128.load(packed, 16);
    const b2 = v128.load(packed, 32);
    let x = v128.load32_splat(a);
    c00 = madd(x, b0, c00);
    c01 = madd(x, b1, c01);
    c02 = madd(x, b2, c02);
    x = v128.load32_splat(a, 4);
    c10 = madd(x, b0, c10);
    c11 = madd(x, b1, c11);
    c12 = madd(x, b2, c12);
    x = v128.load32_splat(a, 8);
    c20 = madd(x, b0, c20);
    c21 = madd(x, b1, c21);
    c22 = madd(x, b2, c22);
    x = v128.load32_splat(a, 12);
    c30 = madd(x, b0, c30);
    c31 = madd(x, b1, c31);
    c32 = madd(x, b2, c32);
    packed += COLUMNS << 2;
    a += step;
  }
  r = c;
  storeThree(r, c00, c01, c02);
  r += cRow;
  storeThree(r, c10, c11, c12);
  r += cRow;
  storeThree(r, c20, c21, c22);
  r += cRow;
  storeThree(r, c30, c31, c32);
}

/** The last rows of A when they are not contiguous: one after the other. */
function multiplyRest(
  a: usize,
  aRow: isize,
  step: isize,
  height: i32,
  packed: usize,
  c: usize,
  cRow: isize,
  depth: i32,
): void {
  for (let i = 0; i < height; i++, a += aRow, c += cRow) {
    let c0 = v128.load(c);
    let c1 = v128.load(c, 16);
    let c2 = v128.load(c, 32);
    let at = a;
    let b = packed;
    for (let k = 0; k < depth; k++, at += step, b += COLUMNS << 2) {
      const x = v128.load32_splat(at);
      c0 = madd(x, v128.load(b), c0);
      c1 = madd(x, v128.load(b, 16), c1);
      c2 = madd(x, v128.load(b, 32), c2);
    }
    storeThree(c, c0, c1, c2);
  }
}
