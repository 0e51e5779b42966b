import type { Summary } from '../../src/protocol/summary';
import { Tensor } from '../tensor/tensor';

/** Elements per block: they stay in the first cache, and one sum tells whether all are finite. */
const BLOCK = 4096;
/** Runs below this length are cheaper to gather than to visit one by one. */
const SHORT_RUN = 64;
const DEFAULT_BINS = 64;
const MAX_BINS = 65536;

/** What the first pass gathers; of the finite elements unless the name says otherwise. */
interface Totals {
  nan: number;
  posInf: number;
  negInf: number;
  zeros: number;
  sum: number;
  min: number;
  max: number;
}

/**
 * Statistics of a tensor of any shape and strides, in two passes over its storage and without a copy of it.
 * Statistics and histogram are of the finite elements, in float64; all `null` when there is none, with an
 * empty (all zero) histogram. A constant tensor has all its elements in the first bin.
 *
 * @throws RangeError when `bins` is not a whole number from 1 to 65,536.
 */
export function summarize(tensor: Tensor, options: { bins?: number } = {}): Summary {
  const bins = options.bins ?? DEFAULT_BINS;
  if (!Number.isInteger(bins) || bins < 1 || bins > MAX_BINS)
    throw new RangeError(`A histogram of ${bins} bins cannot be made; choose 1 to 65,536.`);
  const { view, repeats } = inMemoryOrder(tensor);
  const t = firstPass(view);
  const finite = view.numel - t.nan - t.posInf - t.negInf;
  const spread = finite && t.min < t.max ? secondPass(view, t, finite, bins) : null;
  return {
    dtype: tensor.dtype,
    device: 'cpu',
    shape: [...tensor.shape],
    strides: [...tensor.strides],
    contiguous: tensor.contiguous,
    numel: tensor.numel,
    nan: t.nan * repeats,
    posInf: t.posInf * repeats,
    negInf: t.negInf * repeats,
    zeros: t.zeros * repeats,
    min: finite ? t.min : null,
    max: finite ? t.max : null,
    mean: spread ? spread.mean : finite ? t.min : null,
    std: spread ? Math.sqrt(spread.squares / finite) : finite ? 0 : null,
    absmax: finite ? Math.max(Math.abs(t.min), Math.abs(t.max)) : null,
    histogram: (spread?.histogram ?? constantHistogram(finite, bins)).map((n) => n * repeats),
  };
}

function constantHistogram(count: number, bins: number): number[] {
  const histogram = new Array<number>(bins).fill(0);
  histogram[0] = count;
  return histogram;
}

/**
 * The same elements, each once, in the order in which they lie in memory: flipped axes turned back, expanded
 * axes dropped (`repeats` counts them), transposed ones sorted, neighbours joined. Only for what does not
 * depend on the order of elements.
 */
export function inMemoryOrder(tensor: Tensor): { view: Tensor; repeats: number } {
  if (tensor.contiguous || tensor.numel === 0) return { view: tensor, repeats: 1 };
  let offset = tensor.offset;
  let repeats = 1;
  const axes: { size: number; stride: number }[] = [];
  tensor.shape.forEach((size, axis) => {
    const stride = tensor.strides[axis];
    if (size === 1) return;
    if (stride === 0) repeats *= size;
    else axes.push({ size, stride: Math.abs(stride) });
    if (stride < 0) offset += (size - 1) * stride;
  });
  axes.sort((a, b) => b.stride - a.stride);
  for (let i = axes.length - 2; i >= 0; i--) {
    const outer = axes[i];
    const inner = axes[i + 1];
    if (outer.stride === inner.stride * inner.size)
      axes.splice(i, 2, { size: outer.size * inner.size, stride: inner.stride });
  }
  const view = new Tensor(
    tensor.data,
    axes.map((a) => a.size),
    axes.map((a) => a.stride),
    offset,
  );
  return { view, repeats };
}

/** Elements `from` .. `to - 1` of `data`. */
export type BlockVisitor = (data: Float32Array, from: number, to: number) => void;

/**
 * Calls `visit` with blocks of elements in row-major order: pieces of the storage itself where runs are long,
 * else a scratch block that short or strided runs are gathered into.
 */
export function forEachBlock(view: Tensor, visit: BlockVisitor): void {
  let scratch: Float32Array | null = null;
  let filled = 0;
  const { data } = view;
  view.forEachRow((at, step, length) => {
    if (step === 1 && length >= SHORT_RUN) {
      for (let from = at; from < at + length; from += BLOCK)
        visit(data, from, Math.min(from + BLOCK, at + length));
      return;
    }
    scratch ??= new Float32Array(Math.min(BLOCK, view.numel));
    for (let done = 0; done < length; ) {
      const n = Math.min(length - done, BLOCK - filled);
      gather(data, at + done * step, step, scratch, filled, n);
      done += n;
      filled += n;
      if (filled < BLOCK) continue;
      visit(scratch, 0, BLOCK);
      filled = 0;
    }
  });
  if (scratch) visit(scratch, 0, filled);
}

function gather(
  from: Float32Array,
  at: number,
  step: number,
  to: Float32Array,
  start: number,
  n: number,
): void {
  const end = start + n;
  for (let i = at, k = start; k < end; k++, i += step) to[k] = from[i];
}

function firstPass(view: Tensor): Totals {
  const totals: Totals = {
    nan: 0,
    posInf: 0,
    negInf: 0,
    zeros: 0,
    sum: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
  };
  forEachBlock(view, (data, from, to) => {
    if (!addFiniteBlock(data, from, to, totals)) addMixedBlock(data, from, to, totals);
  });
  return totals;
}

/**
 * Adds a block to the totals, or does nothing and returns false when an element is NaN or infinite: a float64
 * sum of finite float32 cannot overflow, so the sum tells. The comparisons are grouped because a branch that
 * is almost never taken costs less than four that depend on each other.
 */
function addFiniteBlock(data: Float32Array, from: number, to: number, t: Totals): boolean {
  let min = t.min;
  let max = t.max;
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
  t.sum += sum;
  t.zeros += zeros;
  t.min = min;
  t.max = max;
  return true;
}

function addMixedBlock(data: Float32Array, from: number, to: number, t: Totals): void {
  for (let i = from; i < to; i++) {
    const x = data[i];
    if (x - x === 0) {
      t.sum += x;
      if (x < t.min) t.min = x;
      if (x > t.max) t.max = x;
      if (x === 0) t.zeros++;
    } else if (x > 0) t.posInf++;
    else if (x < 0) t.negInf++;
    else t.nan++;
  }
}

/** The mean, the sum of squared distances from it, and the histogram. */
function secondPass(
  view: Tensor,
  totals: Totals,
  finite: number,
  bins: number,
): { mean: number; squares: number; histogram: number[] } {
  const { min, max } = totals;
  const mean = totals.sum / finite;
  const scale = bins / (max - min);
  // The maximum itself falls one past the last bin, so there is one bin more.
  const counts = new Int32Array(4 * (bins + 1));
  let squares = 0;
  forEachBlock(view, (data, from, to) => {
    const sum = spreadBlock(data, from, to, min, mean, scale, counts);
    squares += sum - sum === 0 ? sum : finiteSquares(data, from, to, mean);
  });
  const histogram = new Array<number>(bins).fill(0);
  counts.forEach((n, slot) => {
    histogram[Math.min(slot >> 2, bins - 1)] += n;
  });
  // NaN and infinities become 0 as integers, so that they were counted in the first bin.
  histogram[0] -= view.numel - finite;
  return { mean, squares, histogram };
}

/**
 * Adds a block to `counts` and returns its sum of squared distances. `counts` has four counters per
 * bin, so that equal neighbours do not wait for each other's count.
 */
function spreadBlock(
  data: Float32Array,
  from: number,
  to: number,
  min: number,
  mean: number,
  scale: number,
  counts: Int32Array,
): number {
  let squares0 = 0;
  let squares1 = 0;
  let i = from;
  for (; i + 4 <= to; i += 4) {
    const a = data[i];
    const b = data[i + 1];
    const c = data[i + 2];
    const d = data[i + 3];
    squares0 += (a - mean) * (a - mean) + (b - mean) * (b - mean);
    squares1 += (c - mean) * (c - mean) + (d - mean) * (d - mean);
    counts[(((a - min) * scale) | 0) << 2]++;
    counts[((((b - min) * scale) | 0) << 2) | 1]++;
    counts[((((c - min) * scale) | 0) << 2) | 2]++;
    counts[((((d - min) * scale) | 0) << 2) | 3]++;
  }
  for (; i < to; i++) {
    squares0 += (data[i] - mean) * (data[i] - mean);
    counts[(((data[i] - min) * scale) | 0) << 2]++;
  }
  return squares0 + squares1;
}

function finiteSquares(data: Float32Array, from: number, to: number, mean: number): number {
  let sum = 0;
  for (let i = from; i < to; i++) {
    const d = data[i] - mean;
    if (d - d === 0) sum += d * d;
  }
  return sum;
}

/** How many elements are NaN or infinite, and where the first one is. */
export interface NonFiniteCount {
  nan: number;
  posInf: number;
  negInf: number;
  /** Index per axis of the first such element in row-major order; `null` when all are finite. */
  first: number[] | null;
}

/** Counts NaN and infinities. It runs after every op, so that a finite tensor costs no more than its sum. */
export function countNonFinite(tensor: Tensor): NonFiniteCount {
  const count: NonFiniteCount = { nan: 0, posInf: 0, negInf: 0, first: null };
  if (allFinite(tensor)) return count;
  let position = 0;
  let first = -1;
  tensor.forEachRow((at, step, length) => {
    for (let k = 0, i = at; k < length; k++, i += step) {
      const x = tensor.data[i];
      if (x - x === 0) continue;
      if (first < 0) first = position + k;
      if (x > 0) count.posInf++;
      else if (x < 0) count.negInf++;
      else count.nan++;
    }
    position += length;
  });
  count.first = tensor.indexOf(first);
  return count;
}

function allFinite(tensor: Tensor): boolean {
  const { view } = inMemoryOrder(tensor);
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
