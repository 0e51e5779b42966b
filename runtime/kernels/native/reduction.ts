import type { Tensor } from '../../tensor/tensor';
import { expand } from '../elementwise';
import type { NativeKernels } from './index';
import { type Axis, walkOf } from './rows';

/** Columns that the kernel sums at once. */
const COLUMNS = 16;
/** Elements of a sum that are made contiguous at once. */
const PIECE = 1024;
/** Elements that a thread sums at once, about. */
const SHARE = 16384;

/** An axis of size 1, to fill up with. */
const ONE: Axis = { size: 1, steps: [0, 0] };

/**
 * y = x summed over the axes along which y is broadcast to x's shape, by `divisor`. Gives false, and does nothing,
 * where more than two separate axes are summed or kept.
 */
export function sumOver(simd: NativeKernels, x: Tensor, y: Tensor, divisor: number): boolean {
  let done = false;
  simd.with([x], [y], ({ inputs: [from], outputs: [to] }) => {
    const { starts, axes } = walkOf([from, expand(to, from.shape)]);
    const kept = axes.filter(({ steps }) => steps[1] !== 0);
    const summed = axes.filter(({ steps }) => steps[1] === 0);
    if (kept.length > 2 || summed.length > 2) return;
    runSum(simd, starts, twoOf(kept), twoOf(summed), divisor);
    done = true;
  });
  return done;
}

const twoOf = (axes: readonly Axis[]): Axis[] => [ONE, ONE, ...axes].slice(-2);

function runSum(
  simd: NativeKernels,
  [x, y]: readonly number[],
  [rows, columns]: readonly Axis[],
  [outer, inner]: readonly Axis[],
  divisor: number,
): void {
  const sideBySide = columns.steps[0] === 4;
  const width = sideBySide ? COLUMNS : 1;
  simd.run({
    kernel: sideBySide ? 'sumColumns' : 'sumRows',
    args: [
      ...[y, rows.steps[1], columns.steps[1]],
      ...[x, rows.steps[0], columns.steps[0], outer.steps[0], inner.steps[0]],
      ...[columns.size, outer.size, inner.size, divisor],
    ],
    items: rows.size * Math.ceil(columns.size / width),
    grain: Math.ceil(SHARE / Math.max(1, outer.size * inner.size * width)),
    scratch: PIECE,
  });
}
