import type { DType } from '../tensor/dtype';
import type { Bound } from './arguments';
import type { Conversion } from './elements';
import { mapTensor, refuseBool } from './elementwise';
import { ExpressionError } from './errors';
import { compare } from './operators';
import { roundEven } from './pythonMath';
import type { Method } from './reductions';
import { scalarOf, type TensorValue, type Value } from './values';

type Convert = Conversion | ((x: number) => number);

/** Functions of one element whose result is floating point. */
const TO_FLOAT: Record<string, Convert> = {
  exp: Math.exp,
  expm1: Math.expm1,
  log: Math.log,
  log1p: Math.log1p,
  log2: Math.log2,
  log10: Math.log10,
  sqrt: Math.sqrt,
  reciprocal: (x) => 1 / x,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  tanh: Math.tanh,
};

/** Functions of one element that keep the type, which booleans do not have. */
const SAME: Record<string, Convert> = {
  abs: 'abs',
  neg: 'neg',
  relu: (x) => Math.max(x, 0),
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  round: (x) => roundEven(x),
};

const TO_BOOL: Conversion[] = ['isnan', 'isinf', 'isfinite', 'logical_not', 'bool'];

const COMPARISONS = { gt: '>', ge: '>=', lt: '<', le: '<=', eq: '==', ne: '!=' } as const;

/** Methods that work on each element by itself. */
export const ELEMENT_METHODS: Readonly<Record<string, Method>> = {
  ...each(TO_FLOAT, (x) => (x.kind === 'float' ? x.tensor.dtype : 'float32')),
  ...each(SAME, (x, name) => {
    refuseBool(x, `${name}()`);
    return x.tensor.dtype;
  }),
  ...each({ sign: (x) => Number(x > 0) - Number(x < 0) }, (x) => x.tensor.dtype),
  ...each({ square: 'square' }, (x) => (x.kind === 'bool' ? 'int64' : x.tensor.dtype)),
  ...each(Object.fromEntries(TO_BOOL.map((name) => [name, name])), () => 'bool'),
  float: { names: [], call: (x) => (x.tensor.dtype === 'float32' ? x : mapTensor(x, 'copy', 'float32')) },
  double: { names: [], call: (x) => mapTensor(x, 'copy', 'float64') },
  int: { names: [], call: (x) => mapTensor(x, Math.trunc, 'int32') },
  long: { names: [], call: (x) => mapTensor(x, Math.trunc, 'int64') },
  clamp: { names: ['min', 'max'], call: clamp },
  ...Object.fromEntries(
    Object.entries(COMPARISONS).map(([name, operator]): [string, Method] => [
      name,
      { names: ['other'], required: 1, call: (x, args) => compare(operator, x, args.other!) },
    ]),
  ),
};

function each(
  table: Record<string, Convert>,
  dtypeOf: (x: TensorValue, name: string) => DType,
): Record<string, Method> {
  return Object.fromEntries(
    Object.entries(table).map(([name, f]): [string, Method] => [
      name,
      { names: [], call: (x) => mapTensor(x, f, dtypeOf(x, name)) },
    ]),
  );
}

function clamp(x: TensorValue, args: Bound): Value {
  const limit = (name: 'min' | 'max') => {
    const value = args[name] ?? null;
    const number = scalarOf(value);
    if (value !== null && number === undefined)
      throw new ExpressionError(`clamp() needs a number as "${name}".`);
    return number;
  };
  const [low, high] = [limit('min'), limit('max')];
  return mapTensor(
    x,
    (e) => (high !== undefined && e > high ? high : low !== undefined && e < low ? low : e),
    x.tensor.dtype,
  );
}
