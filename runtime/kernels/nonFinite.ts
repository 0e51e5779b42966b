import type { Tensor } from '../tensor/tensor';
import { allFinite, statistics } from './statistics';

/** How many elements are NaN or infinite, and where the first one is. */
export interface NonFiniteCount {
  nan: number;
  posInf: number;
  negInf: number;
  /** Index per axis of the first such element in row-major order; `null` when all are finite. */
  first: number[] | null;
}

/** Counts NaN and infinities. It runs after every op, so that a finite tensor costs no more than a look at it. */
export function countNonFinite(tensor: Tensor): NonFiniteCount {
  if (allFinite(tensor)) return { nan: 0, posInf: 0, negInf: 0, first: null };
  const { nan, posInf, negInf } = statistics(tensor);
  return { nan, posInf, negInf, first: firstWhere(tensor, (x) => x - x !== 0) };
}

/** Index per axis of the first element in row-major order for which `test` holds; `null` when there is none. */
export function firstWhere(tensor: Tensor, test: (x: number) => boolean): number[] | null {
  const { data } = tensor;
  let position = 0;
  let found = -1;
  tensor.forEachRow((at, step, length) => {
    for (let k = 0, i = at; found < 0 && k < length; k++, i += step) if (test(data[i])) found = position + k;
    position += length;
  });
  return found < 0 ? null : tensor.indexOf(found);
}
