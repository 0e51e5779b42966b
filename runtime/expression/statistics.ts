import { forEachBlock, inMemoryOrder } from '../kernels/summary';
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

export function sum(x: Tensor): number {
  return total(x, (sofar, data, from, to) => {
    let even = 0;
    let odd = 0;
    let i = from;
    for (; i + 2 <= to; i += 2) {
      even += data[i];
      odd += data[i + 1];
    }
    return sofar + even + odd + (i < to ? data[i] : 0);
  });
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
  const center = mean(x);
  const squares = total(x, (sofar, data, from, to) => {
    let result = 0;
    for (let i = from; i < to; i++) result += (data[i] - center) * (data[i] - center);
    return sofar + result;
  });
  const degrees = x.numel - correction;
  return degrees > 0 ? squares / degrees : Number.NaN;
}

export function max(x: Tensor): number {
  return foldInOrder(inMemoryOrder(x).view, Number.NEGATIVE_INFINITY, (sofar, data, from, to) => {
    let best = sofar;
    for (let i = from; i < to; i++) if (data[i] > best || Number.isNaN(data[i])) best = data[i];
    return best;
  });
}

export function min(x: Tensor): number {
  return foldInOrder(inMemoryOrder(x).view, Number.POSITIVE_INFINITY, (sofar, data, from, to) => {
    let best = sofar;
    for (let i = from; i < to; i++) if (data[i] < best || Number.isNaN(data[i])) best = data[i];
    return best;
  });
}

/** Largest magnitude; 0 when there is no element. */
export function absmax(x: Tensor): number {
  return foldInOrder(inMemoryOrder(x).view, 0, (sofar, data, from, to) => {
    let best = sofar;
    for (let i = from; i < to; i++) {
      const size = Math.abs(data[i]);
      if (size > best || Number.isNaN(size)) best = size;
    }
    return best;
  });
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
  return total(x, (sofar, data, from, to) => {
    let n = sofar;
    for (let i = from; i < to; i++) n += Number(data[i] !== 0);
    return n;
  });
}

/** The p-norm of all elements as one vector; p may be infinite. */
export function norm(x: Tensor, p: number): number {
  if (p === Number.POSITIVE_INFINITY) return absmax(x);
  if (p === Number.NEGATIVE_INFINITY) return absmin(x);
  if (p === 0) return countNonZero(x);
  if (p === 2) return Math.sqrt(sumOfSquares(x));
  const powers = total(x, (sofar, data, from, to) => {
    let result = 0;
    for (let i = from; i < to; i++) result += Math.abs(data[i]) ** p;
    return sofar + result;
  });
  return powers ** (1 / p);
}

function sumOfSquares(x: Tensor): number {
  return total(x, (sofar, data, from, to) => {
    let result = 0;
    for (let i = from; i < to; i++) result += data[i] * data[i];
    return sofar + result;
  });
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
