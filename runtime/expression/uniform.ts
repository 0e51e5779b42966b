import { allFinite, extremes } from '../kernels/statistics';
import type { Tensor } from '../tensor/tensor';
import { type Conversion, combineNumbers, convertNumber, type Operation } from './elements';

/** Answers that are the same for all elements, found by one fast look at them: most conditions do not hold. */

/** What `x operation b` gives for every element, 0 or 1; `undefined` when that is not known to be one answer. */
export function uniformComparison(operation: Operation, x: Tensor, b: number): number | undefined {
  if (!ORDERINGS.has(operation)) return undefined;
  const { min, max } = extremes(x);
  if (Number.isNaN(min)) return undefined;
  const [first, last] = [combineNumbers(operation, min, b), combineNumbers(operation, max, b)];
  return first === last ? first : undefined;
}

/** Comparisons that give one answer up to some element and the other one from there on. */
const ORDERINGS: ReadonlySet<Operation> = new Set(['<', '<=', '>', '>=']);

/** The same for functions of one element. */
export function uniformConversion(f: Conversion, x: Tensor): number | undefined {
  const asksFinite = f === 'isnan' || f === 'isinf' || f === 'isfinite';
  return asksFinite && allFinite(x) ? convertNumber(f, 0) : undefined;
}
