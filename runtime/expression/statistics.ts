import { forEachBlock, inMemoryOrder } from '../kernels/memoryOrder';
import { extremes, type Statistics, statistics, sumOfSquares } from '../kernels/statistics';
import type { Tensor } from '../tensor/tensor';
import { guardSize } from './values';

/**
 * Statistics of all elements of a tensor, as PyTorch defines them: NaN anywhere makes the result NaN. Sums
 * are in float64.
 */

type Fold = (sofar: number, data: Float32Array, from: number, to: number) => number;

/** For what depends on the order of elements. */
function foldInOrder(x: Tensor, start: number, fold: Fold): number {
  let result = start;
  forEachBlock(x, (data, from, to) => {
    result = fold(result, data, from, to);
  });
  return result;
}

/** Adds `fold` over the elements in any order; each repeated element counts as often as it repeats. */
function total(x: Tensor, fold: Fold): number {
  const { view, repeats } = inMemoryOrder(x);
  return foldInOrder(view, 0, fold) * repeats;
}

/** What a sum over all elements gives when some are NaN or infinite; `finite` is that of the others. */
function withNonFinite({ nan, posInf, negInf }: Statistics, finite: number): number {
  if (nan > 0 || (posInf > 0 && negInf > 0)) return Number.NaN;
  if (posInf > 0) return Number.POSITIVE_INFINITY;
  return negInf > 0 ? Number.NEGATIVE_INFINITY : finite;
}

export function sum(x: Tensor): number {
  const s = statistics(x);
  return withNonFinite(s, s.sum);
}

export function prod(x: Tensor): number {
  return foldInOrder(x, 1, (sofar, data, from, to) => {
    let product = sofar;
    for (let i = from; i < to; i++) product *= data[i];
    return product;
  });
}

export function mean(x: Tensor): number {
  return sum(x) / x.numel;
}

/** Divides by numel - correction; NaN when that is not above 0. */
export function variance(x: Tensor, correction: number): number {
  const { count, squares } = statistics(x);
  const degrees = x.numel - correction;
  return count === x.numel && degrees > 0 ? squares / degrees : Number.NaN;
}

export function max(x: Tensor): number {
  return extremes(x).max;
}

export function min(x: Tensor): number {
  return extremes(x).min;
}

/** Largest magnitude; 0 when there is no element. */
export function absmax(x: Tensor): number {
  return extremes(x).absmax;
}

function absmin(x: Tensor): number {
  return foldInOrder(inMemoryOrder(x).view, Number.POSITIVE_INFINITY, (sofar, data, from, to) => {
    let best = sofar;
    for (let i = from; i < to; i++) {
      const size = Math.abs(data[i]);
      if (size < best || Number.isNaN(size)) best = size;
    }
    return best;
  });
}

/** Row-major position of the first largest element; the first NaN counts as the largest. */
export function argmax(x: Tensor): number {
  return firstBest(x, Number.NEGATIVE_INFINITY, (a, best) => a > best);
}

export function argmin(x: Tensor): number {
  return firstBest(x, Number.POSITIVE_INFINITY, (a, best) => a < best);
}

function firstBest(x: Tensor, start: number, isBetter: (a: number, best: number) => boolean): number {
  let best = start;
  let found = 0;
  let position = 0;
  forEachBlock(x, (data, from, to) => {
    for (let i = from; i < to; i++, position++) {
      if (Number.isNaN(best) || !(isBetter(data[i], best) || Number.isNaN(data[i]))) continue;
      best = data[i];
      found = position;
    }
  });
  return found;
}

export function countNonZero(x: Tensor): number {
  return x.numel - statistics(x).zeros;
}

/** Whether an element is not zero; NaN is not. */
export function any(x: Tensor): boolean {
  return absmax(x) !== 0;
}

/** The p-norm of all elements as one vector; p may be infinite. */
export function norm(x: Tensor, p: number): number {
  if (p === Number.POSITIVE_INFINITY) return absmax(x);
  if (p === Number.NEGATIVE_INFINITY) return absmin(x);
  if (p === 0) return countNonZero(x);
  if (p === 2) return euclidean(x);
  const powers = total(x, (sofar, data, from, to) => {
    let result = 0;
    for (let i = from; i < to; i++) result += Math.abs(data[i]) ** p;
    return sofar + result;
  });
  return powers ** (1 / p);
}

function euclidean(x: Tensor): number {
  const s = statistics(x);
  return Math.abs(
    withNonFinite({ ...s, posInf: s.posInf + s.negInf, negInf: 0 }, Math.sqrt(sumOfSquares(s))),
  );
}

/** The lower one of the two middle elements when their number is even, as in PyTorch. */
export function median(x: Tensor): number {
  const sorted = sortedCopy(x);
  if (sorted.length === 0 || Number.isNaN(sorted.at(-1)!)) return Number.NaN;
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** The quantile 0 <= q <= 1, linear between neighbours. */
export function quantile(x: Tensor, q: number): number {
  const sorted = sortedCopy(x);
  if (sorted.length === 0 || Number.isNaN(sorted.at(-1)!)) return Number.NaN;
  const at = q * (sorted.length - 1);
  const below = sorted[Math.floor(at)];
  const weight = at - Math.floor(at);
  return weight === 0 ? below : below + weight * (sorted[Math.ceil(at)] - below);
}

/** Ascending, NaN last. */
function sortedCopy(x: Tensor): Float32Array {
  guardSize(x.numel);
  return x.toArray().slice().sort();
}
