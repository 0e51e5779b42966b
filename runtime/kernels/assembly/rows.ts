/**
 * How kernels walk over strided operands: an outer axis, a middle one, and rows. A row is cut into pieces of at
 * most 1024 elements, which are the items of the work. Pieces that are not contiguous pass through scratch, so
 * that a kernel has one loop, over contiguous elements.
 */

/** Elements of a row that are done at once: a few of these pieces stay in the first cache. */
const PIECE: i32 = 1024;

/** What a walk's arguments begin with; then come the output and the inputs, an `Operand` each. */
@unmanaged
export class Walk {
  /** Size of the middle axis. */
  middle: i32;
  /** Elements of a row, and how many pieces they make. */
  length: i32;
  pieces: i32;
  /** A constant of the operation. */
  by: f32;
}

@unmanaged
class Operand {
  start: usize;
  outer: isize;
  middle: isize;
  step: isize;
}

// @ts-ignore: decorator
@inline
function operand(args: usize, k: i32): Operand {
  return changetype<Operand>(args + offsetof<Walk>() + offsetof<Operand>() * k);
}

/** Where a piece of an operand begins. */
// @ts-ignore: decorator
@inline
function pieceOf(o: Operand, w: Walk, row: i32, first: i32): usize {
  return o.start + o.outer * (row / w.middle) + o.middle * (row % w.middle) + o.step * first;
}

/** y = f.apply(x) for all elements of some pieces. `scratch` holds two pieces. */
// @ts-ignore: decorator
@inline
export function unary<F>(args: usize, from: i32, to: i32, scratch: usize): void {
  const w = changetype<Walk>(args);
  const f = changetype<F>(args);
  const ofY = operand(args, 0);
  const ofX = operand(args, 1);
  for (let item = from; item < to; item++) {
    const row = item / w.pieces;
    const first = (item % w.pieces) * PIECE;
    const count = min(PIECE, w.length - first);
    const target = pieceOf(ofY, w, row, first);
    const x = contiguous(pieceOf(ofX, w, row, first), ofX.step, count, scratch);
    const y = ofY.step == 4 ? target : scratch + (PIECE << 2);
    const end = (<usize>count & ~3) << 2;
    let i: usize = 0;
    // Two at a time share the constants, of which some operations have more than there are registers.
    for (; i + 16 < end; i += 32) {
      const y0 = f.apply(v128.load(x + i));
      const y1 = f.apply(v128.load(x + i, 16));
      v128.store(y + i, y0);
      v128.store(y + i, y1, 16);
    }
    if (i < end) v128.store(y + i, f.apply(v128.load(x + i)));
    if (count & 3) storeFew(y + end, f.apply(loadFew(x + end, count & 3)), count & 3);
    if (ofY.step != 4) scatter(y, target, ofY.step, count);
  }
}

/** y = f.apply(a, b) for all elements of some pieces. `scratch` holds three pieces. */
// @ts-ignore: decorator
@inline
export function binary<F>(args: usize, from: i32, to: i32, scratch: usize): void {
  const w = changetype<Walk>(args);
  const f = changetype<F>(args);
  const ofY = operand(args, 0);
  const ofA = operand(args, 1);
  const ofB = operand(args, 2);
  for (let item = from; item < to; item++) {
    const row = item / w.pieces;
    const first = (item % w.pieces) * PIECE;
    const count = min(PIECE, w.length - first);
    const target = pieceOf(ofY, w, row, first);
    const a = contiguous(pieceOf(ofA, w, row, first), ofA.step, count, scratch);
    const b = contiguous(pieceOf(ofB, w, row, first), ofB.step, count, scratch + (PIECE << 2));
    const y = ofY.step == 4 ? target : scratch + (PIECE << 3);
    const end = (<usize>count & ~3) << 2;
    for (let i: usize = 0; i < end; i += 16) {
      v128.store(y + i, f.apply(v128.load(a + i), v128.load(b + i)));
    }
    if (count & 3) {
      storeFew(y + end, f.apply(loadFew(a + end, count & 3), loadFew(b + end, count & 3)), count & 3);
    }
    if (ofY.step != 4) scatter(y, target, ofY.step, count);
  }
}

/** The elements side by side: where they are, if they lie so, else a copy at `room`. */
export function contiguous(x: usize, step: isize, count: i32, room: usize): usize {
  if (step == 4) return x;
  let to = room;
  const end = room + (<usize>count << 2);
  if (step == -4) {
    x -= 12;
    for (; to + 16 <= end; to += 16, x -= 16) {
      const v = v128.load(x);
      v128.store(to, v128.shuffle<f32>(v, v, 3, 2, 1, 0));
    }
    x += 12;
  }
  for (; to < end; to += 4, x += step) store<f32>(to, load<f32>(x));
  return room;
}

/** Writes contiguous elements to where they belong. */
export function scatter(from: usize, to: usize, step: isize, count: i32): void {
  const end = from + (<usize>count << 2);
  if (step == -4) {
    to -= 12;
    for (; from + 16 <= end; from += 16, to -= 16) {
      const v = v128.load(from);
      v128.store(to, v128.shuffle<f32>(v, v, 3, 2, 1, 0));
    }
    to += 12;
  }
  for (; from < end; from += 4, to += step) store<f32>(to, load<f32>(from));
}

/** One to three elements; the other lanes are 0. */
export function loadFew(x: usize, count: i32): v128 {
  let v = v128.load32_zero(x);
  if (count > 1) v = v128.load32_lane(x + 4, v, 1);
  if (count > 2) v = v128.load32_lane(x + 8, v, 2);
  return v;
}

/** The first one to three lanes. */
export function storeFew(y: usize, v: v128, count: i32): void {
  v128.store32_lane(y, v, 0);
  if (count > 1) v128.store32_lane(y + 4, v, 1);
  if (count > 2) v128.store32_lane(y + 8, v, 2);
}
