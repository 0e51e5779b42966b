import { touch } from './elements';

/** Columns that are taken at once: four rows of them and what is kept stay in the first cache. */
const STRIP: i32 = 1024;
/** Bytes of scratch before the strips, that nobody reads. */
const SINK: i32 = 16;
/** A float without its sign. */
const MAGNITUDE: i32 = 0x7fffffff;

/**
 * Cells of a matrix whose rows are contiguous. Cell (r, c) covers rows rowEdges[r] to rowEdges[r + 1] and columns
 * columnEdges[c] to columnEdges[c + 1], and none is empty.
 */
@unmanaged
class WindowArguments {
  data: usize;
  rowStep: isize;
  rowEdges: usize;
  columnEdges: usize;
  /** Cells per row. */
  width: i32;
  out: usize;
}

/**
 * The element of largest magnitude per cell, NaN before any number, the positive one of equals. An item is a row
 * of cells. `scratch` holds 4 words, 2 strips and 2 rows of cells.
 *
 * As signed whole numbers positive floats are in order and above all negative ones; as unsigned whole numbers
 * negative floats are in order of magnitude and above all positive ones. So two maxima are kept.
 */
export function reduceWindow(args: usize, from: i32, to: i32, scratch: usize): void {
  const p = changetype<WindowArguments>(args);
  const width = p.width;
  const columns = load<i32>(p.columnEdges + (<usize>width << 2));
  const kept = scratch + SINK;
  const cells = kept + (STRIP << 3);
  for (let item = from; item < to; item++) {
    const row = load<i32>(p.rowEdges + (<usize>item << 2));
    const rows = load<i32>(p.rowEdges + (<usize>item << 2), 4) - row;
    memory.fill(cells, 0, <usize>width << 3);
    let cell = 0;
    for (let column = 0; column < columns; column += STRIP) {
      const n = min(STRIP, columns - column);
      stackRows(p.data + p.rowStep * row + (<usize>column << 2), p.rowStep, rows, n, kept);
      cell = foldStrip(p.columnEdges, cell, column, n, kept, cells);
    }
    finish(cells, width, p.out + ((<usize>item * width) << 2));
  }
}

/** The two maxima of each of n columns, four rows at a time; a missing row is the last one again. */
function stackRows(at: usize, step: isize, rows: i32, n: i32, kept: usize): void {
  for (let i = 0; i < rows; i += 4, at += 4 * step) {
    const left = rows - i - 1;
    const b = at + step * min(1, left);
    const c = at + step * min(2, left);
    const d = at + step * min(3, left);
    for (let k = 0; k < 4 && k <= left; k++) touch(at + step * k, <usize>n << 2, kept - SINK);
    stackFour(at, b, c, d, n, i == 0, kept);
  }
}

function stackFour(a: usize, b: usize, c: usize, d: usize, n: i32, fresh: boolean, kept: usize): void {
  const end = kept + (<usize>n << 2);
  for (; kept + 16 <= end; kept += 16, a += 16, b += 16, c += 16, d += 16) {
    const w = v128.load(a);
    const x = v128.load(b);
    const y = v128.load(c);
    const z = v128.load(d);
    let positive = i32x4.max_s(i32x4.max_s(w, x), i32x4.max_s(y, z));
    let negative = i32x4.max_u(i32x4.max_u(w, x), i32x4.max_u(y, z));
    if (!fresh) {
      positive = i32x4.max_s(positive, v128.load(kept));
      negative = i32x4.max_u(negative, v128.load(kept, STRIP << 2));
    }
    v128.store(kept, positive);
    v128.store(kept, negative, STRIP << 2);
  }
  for (; kept < end; kept += 4, a += 4, b += 4, c += 4, d += 4) {
    const positive = max(max(load<i32>(a), load<i32>(b)), max(load<i32>(c), load<i32>(d)));
    const negative = max(max(load<u32>(a), load<u32>(b)), max(load<u32>(c), load<u32>(d)));
    store<i32>(kept, fresh ? positive : max(positive, load<i32>(kept)));
    store<u32>(kept, fresh ? negative : max(negative, load<u32>(kept, STRIP << 2)), STRIP << 2);
  }
}

/** Adds the maxima of a strip of columns to their cells, the first of which is `cell`; gives the next strip's. */
function foldStrip(edges: usize, cell: i32, column: i32, n: i32, kept: usize, cells: usize): i32 {
  for (let i = 0; i < n; cell++) {
    const edge = load<i32>(edges + (<usize>cell << 2), 4) - column;
    const end = min(edge, n);
    foldRun(kept + (<usize>i << 2), end - i, cells + (<usize>cell << 3));
    i = end;
    if (edge > n) return cell;
  }
  return cell;
}

// @ts-ignore: decorator
@inline
function foldRun(at: usize, n: i32, cell: usize): void {
  let positive = load<i32>(cell);
  let negative = load<u32>(cell, 4);
  const end = at + (<usize>n << 2);
  if (n >= 8) {
    let p = v128.load(at);
    let m = v128.load(at, STRIP << 2);
    for (at += 16; at + 16 <= end; at += 16) {
      p = i32x4.max_s(p, v128.load(at));
      m = i32x4.max_u(m, v128.load(at, STRIP << 2));
    }
    p = i32x4.max_s(p, i8x16.shuffle(p, p, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    m = i32x4.max_u(m, i8x16.shuffle(m, m, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    positive = max(positive, max(i32x4.extract_lane(p, 0), i32x4.extract_lane(p, 1)));
    negative = max(negative, max(<u32>i32x4.extract_lane(m, 0), <u32>i32x4.extract_lane(m, 1)));
  }
  for (; at < end; at += 4) {
    positive = max(positive, load<i32>(at));
    negative = max(negative, load<u32>(at, STRIP << 2));
  }
  store<i32>(cell, positive);
  store<u32>(cell, negative, 4);
}

/** The larger one of each cell's two maxima. */
function finish(cells: usize, width: i32, out: usize): void {
  for (let c = 0; c < width; c++, cells += 8, out += 4) {
    const positive = load<i32>(cells);
    const negative = load<i32>(cells, 4);
    const isNegative = negative < 0 && (negative & MAGNITUDE) > positive;
    store<i32>(out, isNegative ? negative : positive);
  }
}
