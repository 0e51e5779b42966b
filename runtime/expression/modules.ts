import type { Arguments } from './arguments';
import { ExpressionError, listNames } from './errors';
import { FUNCTIONS } from './functions';
import { callMethod, TENSOR_METHODS } from './methods';
import { describeType, scalarOf, TensorValue, type Value } from './values';

/** `torch.isnan(x)` and `math.sqrt(x)`, as they are written in scripts. */

const CONSTANTS: Record<string, number> = {
  inf: Number.POSITIVE_INFINITY,
  nan: Number.NaN,
  pi: Math.PI,
  e: Math.E,
};

const DTYPES = 'float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool'.split(' ');

const MATH: Record<string, (x: number) => Value> = {
  sqrt: Math.sqrt,
  exp: Math.exp,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  fabs: Math.abs,
  floor: Math.floor,
  ceil: Math.ceil,
  tanh: Math.tanh,
  isnan: Number.isNaN,
  isfinite: Number.isFinite,
  isinf: (x) => Math.abs(x) === Number.POSITIVE_INFINITY,
};

/** `torch.pi`, `torch.float32`, ... A dtype is its name, as `x.dtype` is. */
export function moduleConstant(module: string, name: string): Value {
  if (Object.hasOwn(CONSTANTS, name)) return CONSTANTS[name];
  if (module === 'torch' && DTYPES.includes(name)) return name;
  const known = [...Object.keys(CONSTANTS), ...(module === 'torch' ? DTYPES : Object.keys(MATH))];
  throw new ExpressionError(`${module}.${name} is not known. Known: ${listNames(known)}.`);
}

/** `torch.name(x, ...)` is the method of x, `math.name(x)` a function of a number. */
export function callModule(module: string, name: string, args: Arguments): Value {
  const [first, ...rest] = args.positional;
  if (module === 'math') return callMath(name, args);
  if (first instanceof TensorValue && TENSOR_METHODS.has(name))
    return callMethod(first, name, { positional: rest, named: args.named });
  if (!TENSOR_METHODS.has(name) && !Object.hasOwn(FUNCTIONS, name))
    throw new ExpressionError(
      `torch.${name}() is not known here; methods of tensors may be written so, e.g. torch.isnan(x).`,
    );
  throw new ExpressionError(`torch.${name}() needs a tensor first, not ${describeType(first ?? null)}.`);
}

function callMath(name: string, args: Arguments): Value {
  if (!Object.hasOwn(MATH, name))
    throw new ExpressionError(`math.${name}() is not known here. Known: ${listNames(Object.keys(MATH))}.`);
  const x = args.positional.length === 1 && args.named.size === 0 ? scalarOf(args.positional[0]) : undefined;
  if (x === undefined) throw new ExpressionError(`math.${name}() needs one number.`);
  const result = MATH[name](x);
  if (typeof result === 'number' && !Number.isFinite(result) && Number.isFinite(x))
    throw new ExpressionError(`math.${name}(${x}) has no value.`);
  return result;
}
