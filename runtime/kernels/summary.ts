import type { Summary } from '../../src/protocol/summary';
import type { Tensor } from '../tensor/tensor';
import { histogram } from './histogram';
import { inMemoryOrder } from './memoryOrder';
import { absmaxOf, statistics } from './statistics';

const DEFAULT_BINS = 64;
const MAX_BINS = 65536;

/**
 * Statistics of a tensor of any shape and strides, in two passes over its storage: the range of the histogram is
 * known after the first. Statistics and histogram are of the finite elements, in float64; all `null` when there is
 * none, with an empty (all zero) histogram. A constant tensor has all its elements in the first bin.
 *
 * @throws RangeError when `bins` is not a whole number from 1 to 65,536.
 */
export function summarize(tensor: Tensor, options: { bins?: number } = {}): Summary {
  const bins = options.bins ?? DEFAULT_BINS;
  if (!Number.isInteger(bins) || bins < 1 || bins > MAX_BINS)
    throw new RangeError(`A histogram of ${bins} bins cannot be made; choose 1 to 65,536.`);
  const { view, repeats } = inMemoryOrder(tensor);
  const s = statistics(view);
  const some = s.count > 0;
  return {
    dtype: tensor.dtype,
    device: 'cpu',
    shape: [...tensor.shape],
    strides: [...tensor.strides],
    contiguous: tensor.contiguous,
    numel: tensor.numel,
    nan: s.nan * repeats,
    posInf: s.posInf * repeats,
    negInf: s.negInf * repeats,
    zeros: s.zeros * repeats,
    min: some ? s.min : null,
    max: some ? s.max : null,
    mean: some ? s.sum / s.count : null,
    std: some ? Math.sqrt(s.squares / s.count) : null,
    absmax: some ? absmaxOf(s) : null,
    histogram: histogram(view, s, bins).map((n) => n * repeats),
  };
}
