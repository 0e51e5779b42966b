/** Elements that are taken at once; they stay in the first cache. */
export const BLOCK: i32 = 4096;
/** Elements of an item of the statistics. */
export const PIECE: i32 = 65536;

/**
 * The elements of a view in any order that suits memory: axis 0 is the innermost one. Element i of the whole has
 * the index i % size0 on axis 0, and so on.
 */
@unmanaged
export class Elements {
  data: usize;
  count: i32;
  /** How many of the six axes there are; at least one. */
  rank: i32;
  size0: i32;
  step0: isize;
  size1: i32;
  step1: isize;
  size2: i32;
  step2: isize;
  size3: i32;
  step3: isize;
  size4: i32;
  step4: isize;
  size5: i32;
  step5: isize;
}

/**
 * Address of elements `first` to `first + n` side by side, n <= 4096: where they lie when they do, else of a copy
 * in `scratch`.
 */
export function blockAt(e: Elements, first: i32, n: i32, scratch: usize): usize {
  const length = e.size0;
  const step = e.step0;
  let row = first / length;
  let i = first - row * length;
  if (step == 4 && i + n <= length) return rowAddress(e, row) + (<usize>i << 2);
  let to = scratch;
  for (let left = n; left > 0; row++, i = 0) {
    const run = min(left, length - i);
    copyRun(rowAddress(e, row) + step * i, step, to, run);
    to += <usize>run << 2;
    left -= run;
  }
  return scratch;
}

/** Address of the first element of a run of axis 0; `row` counts through the other axes. */
// @ts-ignore: decorator
@inline
function rowAddress(e: Elements, row: i32): usize {
  let axis = changetype<usize>(e) + offsetof<Elements>('size1');
  let at = e.data;
  for (let left = e.rank - 2; left > 0; left--, axis += 8) {
    const size = load<i32>(axis);
    const next = row / size;
    at += load<isize>(axis, 4) * (row - next * size);
    row = next;
  }
  return e.rank > 1 ? at + load<isize>(axis, 4) * row : at;
}

// @ts-ignore: decorator
@inline
function copyRun(from: usize, step: isize, to: usize, n: i32): void {
  const end = to + (<usize>n << 2);
  if (step == 4) for (; to + 16 <= end; to += 16, from += 16) v128.store(to, v128.load(from));
  for (; to < end; to += 4, from += step) store<f32>(to, load<f32>(from));
}

/**
 * Reads one word of each cache line. Such loads do not wait for each other, so that memory is read at full speed,
 * which a loop that computes much does not reach. They are written to `sink`, so that they are not left out.
 */
// @ts-ignore: decorator
@inline
export function touch(from: usize, bytes: usize, sink: usize): void {
  const end = from + bytes;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (; from + 256 <= end; from += 256) {
    a |= load<i32>(from);
    b |= load<i32>(from, 64);
    c |= load<i32>(from, 128);
    d |= load<i32>(from, 192);
  }
  for (; from < end; from += 64) a |= load<i32>(from);
  store<i32>(sink, a | b | (c | d));
}
