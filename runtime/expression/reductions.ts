import type { DType } from '../tensor/dtype';
import { Tensor } from '../tensor/tensor';
import { axesOf, type Bound, flag, numberArgument, type Parameters } from './arguments';
import { refuseBool } from './elementwise';
import { ExpressionError } from './errors';
import * as statistics from './statistics';
import { shapeText, TensorValue, temporary, type Value } from './values';

/** A method of tensors. */
export interface Method extends Parameters {
  call(self: TensorValue, args: Bound): Value;
}

interface Statistic {
  of(x: Tensor): number;
  /** Type of the result; that of the tensor when absent. */
  dtype?: DType;
  /** Set where PyTorch refuses whole numbers and booleans. */
  floatOnly?: boolean;
  /** Set where PyTorch refuses booleans. */
  noBool?: boolean;
  /** Set where a tensor without elements has no value. */
  needsElements?: boolean;
}

const DIMS = ['dim', 'keepdim'];
const SPREAD = ['dim', 'unbiased', 'keepdim', '*', 'correction'];

/**
 * Methods that reduce a tensor to a number, or along `dim` to a smaller tensor. max, min and median along a
 * dim give values only, where PyTorch also gives indices.
 */
export const REDUCTIONS: Readonly<Record<string, Method>> = {
  max: fixed('max', { of: statistics.max, needsElements: true }),
  min: fixed('min', { of: statistics.min, needsElements: true }),
  amax: fixed('amax', { of: statistics.max, needsElements: true }),
  amin: fixed('amin', { of: statistics.min, needsElements: true }),
  absmax: fixed('absmax', { of: statistics.absmax, needsElements: true }),
  mean: fixed('mean', { of: statistics.mean, floatOnly: true }),
  median: fixed('median', { of: statistics.median, noBool: true, needsElements: true }),
  argmax: fixed('argmax', { of: statistics.argmax, dtype: 'int64', noBool: true, needsElements: true }),
  argmin: fixed('argmin', { of: statistics.argmin, dtype: 'int64', noBool: true, needsElements: true }),
  any: fixed('any', { of: (x) => Number(statistics.any(x)), dtype: 'bool' }),
  all: fixed('all', { of: (x) => Number(statistics.countNonZero(x) === x.numel), dtype: 'bool' }),
  count_nonzero: fixed('count_nonzero', { of: statistics.countNonZero, dtype: 'int64' }),
  sum: accumulated('sum', statistics.sum),
  prod: accumulated('prod', statistics.prod),
  var: spread('var', (variance) => variance),
  std: spread('std', Math.sqrt),
  norm: { names: ['p', ...DIMS], call: norm },
  quantile: { names: ['q', ...DIMS], required: 1, call: quantile },
};

function fixed(name: string, statistic: Statistic): Method {
  return { names: DIMS, call: (self, args) => reduce(name, self, args, statistic) };
}

/** Sums and products of whole numbers and booleans are whole numbers. */
function accumulated(name: string, of: (x: Tensor) => number): Method {
  return {
    names: DIMS,
    call: (self, args) =>
      reduce(name, self, args, { of, dtype: self.kind === 'float' ? self.tensor.dtype : 'int64' }),
  };
}

function spread(name: string, finish: (variance: number) => number): Method {
  return {
    names: SPREAD,
    call(self, args) {
      // std(False) is std(unbiased=False), as in PyTorch.
      const isFlag = typeof args.dim === 'boolean';
      const unbiased = isFlag ? args.dim : args.unbiased;
      const fallback = unbiased === undefined || flag(unbiased, 'unbiased') ? 1 : 0;
      const correction = numberArgument(args.correction, 'correction', fallback);
      const of = (x: Tensor) => finish(statistics.variance(x, correction));
      return reduce(name, self, isFlag ? { ...args, dim: undefined } : args, { of, floatOnly: true });
    },
  };
}

function norm(self: TensorValue, args: Bound): Value {
  const p = args.p === 'fro' ? 2 : numberArgument(args.p, 'p', 2);
  return reduce('norm', self, args, { of: (x) => statistics.norm(x, p), floatOnly: true });
}

function quantile(self: TensorValue, args: Bound): Value {
  const q = numberArgument(args.q, 'q', Number.NaN);
  if (!(q >= 0 && q <= 1)) throw new ExpressionError(`quantile() needs 0 <= q <= 1, not ${q}.`);
  return reduce('quantile', self, args, { of: (x) => statistics.quantile(x, q), floatOnly: true });
}

function reduce(name: string, x: TensorValue, args: Bound, statistic: Statistic): TensorValue {
  const { tensor } = x;
  if (statistic.floatOnly && x.kind !== 'float')
    throw new ExpressionError(
      `${name}() needs floating point, and this tensor is ${tensor.dtype}; write .float().${name}().`,
      undefined,
      `.float().${name}()`,
    );
  if (statistic.noBool) refuseBool(x, `${name}()`);
  const dtype = statistic.dtype ?? tensor.dtype;
  const axes = axesOf(args.dim, tensor.rank);
  const keepdim = flag(args.keepdim, 'keepdim');
  if (axes === undefined && !keepdim) return TensorValue.scalar(ofAll(name, tensor, statistic), dtype);
  return alongAxes(name, tensor, axes ?? tensor.shape.map((_, axis) => axis), keepdim, statistic, dtype);
}

function ofAll(name: string, x: Tensor, statistic: Statistic): number {
  if (statistic.needsElements && x.numel === 0)
    throw new ExpressionError(
      `${name}() of an empty tensor, of shape ${shapeText(x.shape)}, has no value; check .numel() > 0 first.`,
    );
  return statistic.of(x);
}

function alongAxes(
  name: string,
  x: Tensor,
  axes: readonly number[],
  keepdim: boolean,
  statistic: Statistic,
  dtype: DType,
): TensorValue {
  const all = x.shape.map((_, axis) => axis);
  const kept = all.filter((axis) => !axes.includes(axis));
  const reduced = all.filter((axis) => axes.includes(axis));
  const shape = keepdim
    ? x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size))
    : kept.map((axis) => x.shape[axis]);
  const result = temporary(shape, dtype);
  const partAt = partReader(pick(x, reduced, x.offset));
  let k = 0;
  pick(x, kept, x.offset).forEachRow((at, step, length) => {
    for (let i = 0; i < length; i++) result.data[k++] = ofAll(name, partAt(at + i * step), statistic);
  });
  return new TensorValue(result);
}

/** The view of some of the axes. */
function pick(x: Tensor, axes: readonly number[], offset: number): Tensor {
  return new Tensor(
    x.data,
    axes.map((axis) => x.shape[axis]),
    axes.map((axis) => x.strides[axis]),
    offset,
  );
}

/** Parts up to this size are copied out one after the other, which is faster than a view of each. */
const SMALL_PART = 4096;

/** Gives the part of a tensor that lies like `first`, which is the part at its own offset, at another one. */
function partReader(first: Tensor): (offset: number) => Tensor {
  const { data, shape, strides, numel } = first;
  if (numel > SMALL_PART) return (offset) => new Tensor(data, shape, strides, offset);
  const steps: number[] = [];
  first.forEachRow((at, step, length) => {
    for (let i = 0; i < length; i++) steps.push(at + i * step - first.offset);
  });
  const copy = new Tensor(new Float32Array(numel), [numel]);
  return (offset) => {
    for (let i = 0; i < numel; i++) copy.data[i] = data[offset + steps[i]];
    return copy;
  };
}
