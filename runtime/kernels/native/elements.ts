import type { Tensor } from '../../tensor/tensor';
import { forEachBlock } from '../memoryOrder';
import { address, type NativeKernels, native } from './index';

/** Axes that the kernels can walk. */
const MAX_AXES = 6;
/** Below this many elements a call of a kernel costs more than it saves. */
const FEW = 256;
/** Elements that are copied at once: a multiple of the items of all kernels that sum up. */
const PORTION = 1 << 20;

/** The kernels where there are any and the view is large enough to be worth a call. */
export function kernelsFor(view: Tensor): NativeKernels | undefined {
  return view.numel >= FEW ? native() : undefined;
}

/**
 * Calls `visit` with the arguments that tell a kernel which elements to take, and their number: once for a view
 * that lives in the kernels' memory, else for one copied portion after the other.
 */
export function forEachPortion(
  simd: NativeKernels,
  view: Tensor,
  visit: (elements: readonly number[], count: number) => void,
): void {
  const axes = axesOf(view);
  if (simd.memory.holds(view.data) && axes.length <= MAX_AXES)
    visit(elementsAt(address(view), view.numel, axes), view.numel);
  else copyPortions(simd, view, visit);
}

interface Axis {
  size: number;
  stride: number;
}

/** The innermost axis first; at least one. */
function axesOf(view: Tensor): Axis[] {
  if (view.contiguous) return [{ size: view.numel, stride: 1 }];
  return view.shape.map((size, axis) => ({ size, stride: view.strides[axis] })).reverse();
}

/** The arguments in the order of `Elements` of kernels/assembly. */
function elementsAt(start: number, count: number, axes: readonly Axis[]): number[] {
  const args = [start, count, axes.length];
  for (let axis = 0; axis < MAX_AXES; axis++) args.push(axes[axis]?.size ?? 1, 4 * (axes[axis]?.stride ?? 0));
  return args;
}

function copyPortions(
  simd: NativeKernels,
  view: Tensor,
  visit: (elements: readonly number[], count: number) => void,
): void {
  const copy = simd.memory.allocate(Math.min(PORTION, view.numel));
  let filled = 0;
  const flush = () => {
    visit(elementsAt(copy.byteOffset, filled, [{ size: filled, stride: 1 }]), filled);
    filled = 0;
  };
  try {
    forEachBlock(view, (data, from, to) => {
      for (let at = from; at < to; ) {
        const n = Math.min(to - at, copy.length - filled);
        copy.set(data.subarray(at, at + n), filled);
        at += n;
        filled += n;
        if (filled === copy.length) flush();
      }
    });
    if (filled > 0) flush();
  } finally {
    simd.memory.release(copy);
  }
}
