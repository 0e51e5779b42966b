import { countNonFinite } from '../kernels/nonFinite';
import { type Bound, numberArgument, type Parameters, tensorArgument } from './arguments';
import { ExpressionError } from './errors';
import { callMethod } from './methods';
import { binary, compare } from './operators';
import { roundEven } from './pythonMath';
import { truth } from './truth';
import {
  describeType,
  guardSize,
  plainNumber,
  Sequence,
  scalarOf,
  shapeText,
  TensorValue,
  type Value,
} from './values';

/** A function that is called by its name. */
export interface NamedFunction extends Parameters {
  call(args: Bound): Value;
}

const one = (call: (x: Value) => Value): NamedFunction => ({
  names: ['x'],
  required: 1,
  call: (a) => call(a.x!),
});

/** Functions of one tensor that are its method of the same name; of a plain number, `number`. */
const likeMethod = (name: string, number: (x: number) => Value): NamedFunction =>
  one((x) => {
    const plain = plainNumber(x);
    return plain === undefined
      ? callMethod(tensorArgument(x, `${name}()`), name, NO_ARGUMENTS)
      : number(plain);
  });

const NO_ARGUMENTS = { positional: [], named: new Map<string, Value>() };

/** All functions by name. `min` and `max` also take several arguments, see `callFunction`. */
export const FUNCTIONS: Readonly<Record<string, NamedFunction>> = {
  nan: one((x) => count(x).nan),
  inf: one((x) => count(x).posInf + count(x).negInf),
  nonfinite: one((x) => count(x).nan + count(x).posInf + count(x).negInf),
  absmax: likeMethod('absmax', Math.abs),
  abs: likeMethod('abs', Math.abs),
  norm: likeMethod('norm', Math.abs),
  mean: likeMethod('mean', (x) => x),
  std: likeMethod('std', () => Number.NaN),
  isnan: likeMethod('isnan', Number.isNaN),
  isinf: likeMethod('isinf', (x) => Math.abs(x) === Number.POSITIVE_INFINITY),
  isfinite: likeMethod('isfinite', Number.isFinite),
  sum: one((x) =>
    x instanceof Sequence ? x.items.reduce((a, b) => binary('+', a, b), 0) : statistic('sum', x),
  ),
  any: one((x) => (x instanceof Sequence ? x.items.some((e) => truth(e, 'an item')) : statistic('any', x))),
  all: one((x) => (x instanceof Sequence ? x.items.every((e) => truth(e, 'an item')) : statistic('all', x))),
  max: one((x) => (x instanceof Sequence ? extreme('max', x.items) : statistic('max', x))),
  min: one((x) => (x instanceof Sequence ? extreme('min', x.items) : statistic('min', x))),
  len: one(length),
  bool: one((x) => truth(x, 'x')),
  int: one(toInt),
  float: one(toFloat),
  round: { names: ['x', 'ndigits'], required: 1, call: round },
  cosine: { names: ['a', 'b'], required: 2, call: (args) => cosine(...pair('cosine', args)) },
  rel: { names: ['a', 'b'], required: 2, call: (args) => relative(...pair('rel', args)) },
};

function count(x: Value) {
  if (x instanceof TensorValue) return countNonFinite(x.tensor);
  const number = plainNumber(x);
  if (number === undefined) throw new ExpressionError(`A tensor is needed, not ${describeType(x)}.`);
  return {
    nan: Number(Number.isNaN(number)),
    posInf: Number(number === Number.POSITIVE_INFINITY),
    negInf: Number(number === Number.NEGATIVE_INFINITY),
  };
}

function statistic(name: string, x: Value): Value {
  return callMethod(tensorArgument(x, `${name}()`), name, NO_ARGUMENTS);
}

/** The largest or smallest of plain values or one-element tensors; the first of equal ones. */
export function extreme(name: 'max' | 'min', items: readonly Value[]): Value {
  if (items.length === 0) throw new ExpressionError(`${name}() of nothing has no value.`);
  for (const x of items)
    if (x instanceof TensorValue && x.tensor.numel !== 1)
      throw new ExpressionError(
        `${name}() of several values takes single ones, not ${describeType(x)}; write .${name}() behind it.`,
        undefined,
        `.${name}()`,
      );
  const operator = name === 'max' ? '>' : '<';
  return items.reduce((best, x) => (truth(compare(operator, x, best), 'a > b') ? x : best));
}

function length(x: Value): Value {
  if (x instanceof TensorValue) {
    if (x.tensor.rank === 0) throw new ExpressionError('len() of a tensor of rank 0 has no value.');
    return x.tensor.shape[0];
  }
  if (x instanceof Sequence) return x.items.length;
  if (typeof x === 'string') return Array.from(x).length;
  throw new ExpressionError(`${describeType(x)} has no len().`);
}

function toInt(x: Value): Value {
  const number = typeof x === 'string' ? parse(x, /^\s*[+-]?\d+\s*$/, 'int') : scalarOf(x);
  if (number === undefined) throw new ExpressionError(`int() needs a number, not ${describeType(x)}.`);
  if (!Number.isFinite(number)) throw new ExpressionError(`int() of ${number} has no value.`);
  return Math.trunc(number) + 0;
}

const FLOAT_WORDS: Record<string, number> = {
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
};

function toFloat(x: Value): Value {
  const number = typeof x === 'string' ? floatOf(x) : scalarOf(x);
  if (number === undefined) throw new ExpressionError(`float() needs a number, not ${describeType(x)}.`);
  return number;
}

function floatOf(text: string): number {
  const [, sign, word] = /^\s*([+-]?)(.*?)\s*$/s.exec(text.toLowerCase())!;
  if (Object.hasOwn(FLOAT_WORDS, word)) return sign === '-' ? -FLOAT_WORDS[word] : FLOAT_WORDS[word];
  return parse(text, /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i, 'float');
}

function parse(text: string, pattern: RegExp, name: string): number {
  if (!pattern.test(text)) throw new ExpressionError(`${name}("${text}") is not a number.`);
  return Number(text);
}

function round(args: Bound): Value {
  const digits = numberArgument(args.ndigits, 'ndigits', 0);
  const x = scalarOf(args.x!);
  if (x === undefined) return callMethod(tensorArgument(args.x, 'round()'), 'round', NO_ARGUMENTS);
  return roundEven(x, digits);
}

function pair(name: string, args: Bound): [Float32Array, Float32Array] {
  const a = tensorArgument(args.a, `${name}()`).tensor;
  const b = tensorArgument(args.b, `${name}()`).tensor;
  if (shapeText(a.shape) !== shapeText(b.shape))
    throw new ExpressionError(
      `${name}() needs two tensors of one shape, not ${shapeText(a.shape)} and ${shapeText(b.shape)}.`,
    );
  guardSize(a.numel);
  return [a.toArray(), b.toArray()];
}

/** The cosine of the angle between two tensors seen as vectors; 0 when one of them is zero. */
function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let i = 0; i < a.length; i++) {
    dot += a[i] * b[i];
    squaresA += a[i] * a[i];
    squaresB += b[i] * b[i];
  }
  return dot === 0 ? 0 : dot / Math.sqrt(squaresA * squaresB);
}

/** max |a - b| / max |b|; 0 for equal tensors, NaN when a NaN is in one of them. */
function relative(a: Float32Array, b: Float32Array): number {
  let difference = 0;
  let size = 0;
  for (let i = 0; i < a.length; i++) {
    const d = a[i] === b[i] ? 0 : Math.abs(a[i] - b[i]);
    if (d > difference || Number.isNaN(d)) difference = d;
    if (Math.abs(b[i]) > size) size = Math.abs(b[i]);
  }
  return difference === 0 ? 0 : difference / size;
}
