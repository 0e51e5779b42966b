import { axesOf, axisOf, type Bound, flag, type Parameters } from '../../expression/arguments';
import { ExpressionError } from '../../expression/errors';
import { plainNumber } from '../../expression/values';
import type { ModelBuilder } from '../../program/modelBuilder';
import type { Value } from '../../program/value';

/** A method of tensors that becomes ops of a program. */
export interface CompiledMethod extends Parameters {
  compile(p: ModelBuilder, x: Value, args: Bound): Value;
}

type Elementwise = (p: ModelBuilder, x: Value) => Value;
/** Reduces axes, given from the last to the first. */
type Reduce = (p: ModelBuilder, x: Value, axes: readonly number[]) => Value;

const ELEMENTWISE: Record<string, Elementwise> = {
  abs: (p, x) => p.abs(x),
  exp: (p, x) => p.exp(x),
  log: (p, x) => p.log(x),
  neg: (p, x) => p.neg(x),
  relu: (p, x) => p.relu(x),
  sigmoid: (p, x) => p.sigmoid(x),
  sqrt: (p, x) => p.sqrt(x),
  square: (p, x) => p.mul(x, x),
  tanh: (p, x) => p.tanh(x),
};

const sum: Reduce = (p, x, axes) => p.sum(x, axes);
const mean: Reduce = (p, x, axes) => axes.reduce((y, axis) => p.mean(y, axis), x);
const max: Reduce = (p, x, axes) => axes.reduce((y, axis) => p.max(y, axis), x);
const min: Reduce = (p, x, axes) => p.neg(max(p, p.neg(x), axes));

const REDUCTIONS: Record<string, Reduce> = {
  sum,
  mean,
  max,
  min,
  amax: max,
  amin: min,
  absmax: (p, x, axes) => max(p, p.abs(x), axes),
  norm: (p, x, axes) => p.sqrt(sum(p, p.mul(x, x), axes)),
};

/** The methods of the condition language that have gradients, under the same names. */
export const COMPILED_METHODS: ReadonlyMap<string, CompiledMethod> = new Map([
  ...Object.entries(ELEMENTWISE).map(([name, f]): [string, CompiledMethod] => [
    name,
    { names: [], compile: f },
  ]),
  ...Object.entries(REDUCTIONS).map(([name, f]): [string, CompiledMethod] => [
    name,
    { names: ['dim', 'keepdim'], compile: (p, x, args) => reduce(f, p, x, args) },
  ]),
  [
    'pow',
    { names: ['exponent'], required: 1, compile: (p, x, { exponent }) => p.pow(x, numberOf(exponent)) },
  ],
  [
    'softmax',
    {
      names: ['dim'],
      required: 1,
      compile: (p, x, { dim }) => p.exp(logSoftmax(p, x, axisOf(dim!, rank(x)))),
    },
  ],
  [
    'log_softmax',
    { names: ['dim'], required: 1, compile: (p, x, { dim }) => logSoftmax(p, x, axisOf(dim!, rank(x))) },
  ],
]);

function reduce(f: Reduce, p: ModelBuilder, x: Value, args: Bound): Value {
  const axes = axesOf(args.dim, rank(x)) ?? x.shape.map((_, axis) => axis);
  const ordered = [...new Set(axes)].filter((axis) => axis < rank(x)).sort((a, b) => b - a);
  const y = f(p, x, ordered);
  if (!flag(args.keepdim, 'keepdim')) return y;
  return ordered.toReversed().reduce((wide, axis) => p.unsqueeze(wide, axis), y);
}

/** x - log(sum(e^x)) along an axis, without overflow. */
function logSoftmax(p: ModelBuilder, x: Value, axis: number): Value {
  const shifted = p.sub(x, p.unsqueeze(p.max(x, axis), axis));
  return p.sub(shifted, p.unsqueeze(p.log(p.sum(p.exp(shifted), [axis])), axis));
}

function numberOf(value: Bound[string]): number {
  const x = value === undefined ? undefined : plainNumber(value);
  if (x === undefined) throw new ExpressionError('The exponent has to be a number.');
  return x;
}

const rank = (x: Value): number => x.shape.length;
