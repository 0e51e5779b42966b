import type { Tensor } from '../../tensor/tensor';
import { address, float, type NativeKernels } from './index';

/** Elements of a row that the kernels do at once. */
const PIECE = 1024;
/** Elements that a thread takes at once, about. */
const SHARE = 8192;

/** An axis that tensors are walked along together: its size, and the step of each tensor in bytes. */
export interface Axis {
  readonly size: number;
  readonly steps: readonly number[];
}

/** Where tensors of one shape begin, in bytes, and the axes to walk along, the outermost first. */
export interface Walk {
  readonly starts: readonly number[];
  readonly axes: readonly Axis[];
}

/**
 * The shortest walk over tensors of one shape, in any order of elements: axes go by the steps of the first tensor
 * (where these are 0, of the next), which are not negative, and axes that lie evenly in all tensors are one.
 */
export function walkOf(tensors: readonly Tensor[]): Walk {
  const starts = tensors.map(address);
  const axes: Axis[] = [];
  tensors[0].shape.forEach((size, axis) => {
    if (size !== 1) axes.push(upward({ size, steps: tensors.map((x) => 4 * x.strides[axis]) }, starts));
  });
  axes.sort((a, b) => leading(b) - leading(a));
  return { starts, axes: merged(axes) };
}

/** The axis walked from its other end where its step is negative. */
function upward(axis: Axis, starts: number[]): Axis {
  if (leading(axis) >= 0) return axis;
  axis.steps.forEach((step, k) => {
    starts[k] += (axis.size - 1) * step;
  });
  return { size: axis.size, steps: axis.steps.map((step) => -step) };
}

const leading = ({ steps }: Axis) => steps.find((step) => step !== 0) ?? 0;

function merged(axes: readonly Axis[]): Axis[] {
  const out: Axis[] = [];
  for (const axis of axes) {
    const last = out.at(-1);
    if (last?.steps.every((step, k) => step === axis.size * axis.steps[k]))
      out[out.length - 1] = { size: last.size * axis.size, steps: axis.steps };
    else out.push(axis);
  }
  return out;
}

const ONE: Axis = { size: 1, steps: [] };

/** The last axes of a walk, with axes of size 1 before them where there are too few. */
function lastAxes({ axes }: Walk, count: number): Axis[] {
  return [...new Array<Axis>(Math.max(0, count - axes.length)).fill(ONE), ...axes.slice(-count)];
}

/** Calls `visit` with where the tensors begin, for each index along the axes before the last `count`. */
function forEachStart(walk: Walk, count: number, visit: (starts: readonly number[]) => void): void {
  const visitFrom = (axis: number, starts: readonly number[]) => {
    if (axis >= walk.axes.length - count) {
      visit(starts);
      return;
    }
    const { size, steps } = walk.axes[axis];
    for (let i = 0; i < size; i++)
      visitFrom(
        axis + 1,
        starts.map((start, k) => start + i * steps[k]),
      );
  };
  visitFrom(0, walk.starts);
}

/** Where a tensor begins, and its steps, in bytes: what kernels take for an operand. */
export function operand(x: Tensor): number[] {
  return [address(x), ...x.strides.map((step) => 4 * step)];
}

/**
 * y = f(inputs), element by element, by the kernel of that name; all have one shape and may be any strided view.
 * `by` is a constant of the kernel.
 */
export function elementwise(
  simd: NativeKernels,
  kernel: string,
  inputs: readonly Tensor[],
  y: Tensor,
  by = 0,
): void {
  if (y.numel === 0) return;
  simd.with(inputs, [y], (o) => {
    const walk = walkOf([o.outputs[0], ...o.inputs]);
    const [outer, middle, row] = lastAxes(walk, 3);
    const pieces = Math.ceil(row.size / PIECE);
    forEachStart(walk, 3, (starts) => {
      const operands = starts.flatMap((start, k) => [
        start,
        ...[outer, middle, row].map(({ steps }) => steps[k] ?? 4),
      ]);
      simd.run({
        kernel,
        args: [middle.size, row.size, pieces, float(by), ...operands],
        items: outer.size * middle.size * pieces,
        grain: Math.ceil(SHARE / Math.min(PIECE, row.size)),
        scratch: starts.length * PIECE,
      });
    });
  });
}
