import type { Tensor } from '../tensor/tensor';
import { forEachBlock, inMemoryOrder } from './memoryOrder';
import { kernelsFor } from './native/elements';
import { nativeAllFinite, nativeExtremes, nativeStatistics } from './native/summary';

/** Counts of elements, and statistics of the finite ones in float64. */
export interface Statistics {
  /** Finite elements. */
  count: number;
  nan: number;
  posInf: number;
  negInf: number;
  zeros: number;
  /** Infinity and -Infinity when no element is finite. */
  min: number;
  max: number;
  sum: number;
  /** Sum of the squared distances from the mean. */
  squares: number;
}

/** Statistics of all elements, repeated ones as often as they repeat; without a copy of the tensor. */
export function statistics(tensor: Tensor): Statistics {
  const { view, repeats } = inMemoryOrder(tensor);
  const simd = kernelsFor(view);
  const s = simd ? nativeStatistics(simd, view) : plainStatistics(view);
  return {
    count: s.count * repeats,
    nan: s.nan * repeats,
    posInf: s.posInf * repeats,
    negInf: s.negInf * repeats,
    zeros: s.zeros * repeats,
    // Of equal zeros any may have been found; + 0 makes it the positive one.
    min: s.min + 0,
    max: s.max + 0,
    sum: s.sum * repeats,
    squares: s.squares * repeats,
  };
}

/** Sum of the squares of the finite elements. */
export function sumOfSquares({ count, sum, squares }: Statistics): number {
  return count > 0 ? squares + (sum / count) * sum : 0;
}

/** Largest magnitude of the finite elements; 0 when there is none. */
export function absmaxOf({ count, min, max }: Statistics): number {
  return count > 0 ? Math.max(-min, max) : 0;
}

/** Statistics of all elements of a view in plain TypeScript, in two passes. */
export function plainStatistics(view: Tensor): Statistics {
  const s: Statistics = {
    count: 0,
    nan: 0,
    posInf: 0,
    negInf: 0,
    zeros: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    sum: 0,
    squares: 0,
  };
  forEachBlock(view, (data, from, to) => {
    if (!addFiniteBlock(data, from, to, s)) addMixedBlock(data, from, to, s);
  });
  if (s.min < s.max) s.squares = sumOfDistances(view, s.sum / s.count);
  return s;
}

/**
 * Adds a block, or does nothing and returns false when an element is NaN or infinite: a float64 sum of finite
 * float32 cannot overflow, so the sum tells. The comparisons are grouped because a branch that is almost never
 * taken costs less than four that depend on each other.
 */
function addFiniteBlock(data: Float32Array, from: number, to: number, s: Statistics): boolean {
  let min = s.min;
  let max = s.max;
  let zeros = 0;
  let sum0 = 0;
  let sum1 = 0;
  let i = from;
  for (; i + 4 <= to; i += 4) {
    const a = data[i];
    const b = data[i + 1];
    const c = data[i + 2];
    const d = data[i + 3];
    sum0 += a + b;
    sum1 += c + d;
    if (a < min || b < min || c < min || d < min) {
      if (a < min) min = a;
      if (b < min) min = b;
      if (c < min) min = c;
      if (d < min) min = d;
    }
    if (a > max || b > max || c > max || d > max) {
      if (a > max) max = a;
      if (b > max) max = b;
      if (c > max) max = c;
      if (d > max) max = d;
    }
    // Four float32 cannot underflow in float64.
    if (a * b * (c * d) === 0) zeros += Number(a === 0) + Number(b === 0) + Number(c === 0) + Number(d === 0);
  }
  for (; i < to; i++) {
    const a = data[i];
    sum0 += a;
    if (a < min) min = a;
    if (a > max) max = a;
    if (a === 0) zeros++;
  }
  const sum = sum0 + sum1;
  if (sum - sum !== 0) return false;
  s.count += to - from;
  s.sum += sum;
  s.zeros += zeros;
  s.min = min;
  s.max = max;
  return true;
}

function addMixedBlock(data: Float32Array, from: number, to: number, s: Statistics): void {
  for (let i = from; i < to; i++) {
    const x = data[i];
    if (x - x === 0) {
      s.count++;
      s.sum += x;
      if (x < s.min) s.min = x;
      if (x > s.max) s.max = x;
      if (x === 0) s.zeros++;
    } else if (x > 0) s.posInf++;
    else if (x < 0) s.negInf++;
    else s.nan++;
  }
}

/** Sum of the squared distances of the finite elements from `mean`. */
function sumOfDistances(view: Tensor, mean: number): number {
  let total = 0;
  forEachBlock(view, (data, from, to) => {
    let sum = 0;
    for (let i = from; i < to; i++) {
      const d = data[i] - mean;
      if (d - d === 0) sum += d * d;
    }
    total += sum;
  });
  return total;
}

/** The smallest element, the largest, and the largest magnitude; all NaN when an element is. */
export interface Extremes {
  min: number;
  max: number;
  absmax: number;
}

/** Of no element, the smallest is Infinity, the largest -Infinity and the largest magnitude 0. */
export function extremes(tensor: Tensor): Extremes {
  const { view } = inMemoryOrder(tensor);
  const simd = kernelsFor(view);
  const { min, max, absmax } = simd ? nativeExtremes(simd, view) : plainExtremes(view);
  if (Number.isNaN(absmax)) return { min: absmax, max: absmax, absmax };
  return { min: min + 0, max: max + 0, absmax };
}

/** The same in plain TypeScript; `min` and `max` are without meaning when `absmax` is NaN. */
export function plainExtremes(view: Tensor): Extremes {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let hasNaN = false;
  forEachBlock(view, (data, from, to) => {
    for (let i = from; i < to; i++) {
      const x = data[i];
      if (x < min) min = x;
      if (x > max) max = x;
      if (Number.isNaN(x)) hasNaN = true;
    }
  });
  const absmax = hasNaN ? Number.NaN : Math.max(-min, max, 0);
  return { min, max, absmax };
}

/** Whether no element is NaN or infinite. */
export function allFinite(tensor: Tensor): boolean {
  const { view } = inMemoryOrder(tensor);
  const simd = kernelsFor(view);
  return simd ? nativeAllFinite(simd, view) : plainAllFinite(view);
}

export function plainAllFinite(view: Tensor): boolean {
  let total = 0;
  forEachBlock(view, (data, from, to) => {
    total += sumOfBlock(data, from, to);
  });
  return total - total === 0;
}

function sumOfBlock(data: Float32Array, from: number, to: number): number {
  let sum0 = 0;
  let sum1 = 0;
  let i = from;
  for (; i + 4 <= to; i += 4) {
    sum0 += data[i] + data[i + 1];
    sum1 += data[i + 2] + data[i + 3];
  }
  for (; i < to; i++) sum0 += data[i];
  return sum0 + sum1;
}
