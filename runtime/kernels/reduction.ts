import type { Layout, Tensor } from '../tensor/tensor';
import { native } from './native';
import { sumOver } from './native/reduction';

/** y = the mean of x over an axis, which y lacks. */
export function meanOf(x: Tensor, axis: number, y: Tensor): void {
  const simd = native();
  if (!simd || !sumOver(simd, x, y.with(withAxis(y, axis, 1, 0)), x.shape[axis])) plainMeanOf(x, axis, y);
}

/** The same in plain TypeScript. */
export function plainMeanOf(x: Tensor, axis: number, y: Tensor): void {
  reduceAxis(x, axis, y, (line) => line.reduce((sum, v) => sum + v, 0) / line.length);
}

/** y = the largest element of x over an axis, which y lacks; NaN when one is, as in PyTorch. */
export function maxOf(x: Tensor, axis: number, y: Tensor): void {
  reduceAxis(x, axis, y, (line) => line.reduce((m, v) => (v > m || Number.isNaN(v) ? v : m), -Infinity));
}

/** A layout with one more axis before the given one. */
export function withAxis(l: Layout, axis: number, size: number, stride: number): Layout {
  const { shape, strides, offset } = l;
  return { shape: shape.toSpliced(axis, 0, size), strides: strides.toSpliced(axis, 0, stride), offset };
}

function reduceAxis(x: Tensor, axis: number, y: Tensor, reduce: (line: Float32Array) => number): void {
  const line = new Float32Array(x.shape[axis]);
  const steps = x.strides.toSpliced(axis, 1);
  for (let k = 0; k < y.numel; k++) {
    const index = y.indexOf(k);
    const at = position(index, steps, x.offset);
    for (let i = 0; i < line.length; i++) line[i] = x.data[at + i * x.strides[axis]];
    y.data[position(index, y.strides, y.offset)] = reduce(line);
  }
}

function position(index: readonly number[], strides: readonly number[], offset: number): number {
  return index.reduce((at, i, axis) => at + i * strides[axis], offset);
}
