import { ExpressionError } from './errors';
import { describeType, Sequence, scalarOf, TensorValue, type Value } from './values';

/** The arguments of a call as they were written. */
export interface Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** Arguments by parameter name; `undefined` where none was given. */
export type Bound = Readonly<Record<string, Value | undefined>>;

export interface Parameters {
  /** Names in order; those after `*` can only be given by name. */
  readonly names: readonly string[];
  /** How many of them must be given. */
  readonly required?: number;
}

/** Gives each argument to its parameter. Throws an `ExpressionError` that says what the function takes. */
export function bind(name: string, { names, required = 0 }: Parameters, given: Arguments): Bound {
  const bound: Record<string, Value | undefined> = {};
  const star = names.indexOf('*');
  const byPosition = star < 0 ? names : names.slice(0, star);
  const all = names.filter((n) => n !== '*');
  if (given.positional.length > byPosition.length) throw wrongCall(name, all, 'more arguments than it takes');
  given.positional.forEach((value, i) => {
    bound[byPosition[i]] = value;
  });
  for (const [word, value] of given.named) {
    const parameter = word === 'axis' && all.includes('dim') ? 'dim' : word;
    if (!all.includes(parameter)) throw wrongCall(name, all, `an unknown argument "${word}"`);
    if (bound[parameter] !== undefined) throw wrongCall(name, all, `"${parameter}" twice`);
    bound[parameter] = value;
  }
  const missing = all.slice(0, required).find((n) => bound[n] === undefined);
  if (missing !== undefined) throw wrongCall(name, all, `no "${missing}"`);
  return bound;
}

function wrongCall(name: string, parameters: readonly string[], problem: string): ExpressionError {
  const takes = parameters.length ? `It takes: ${parameters.join(', ')}.` : 'It takes no arguments.';
  return new ExpressionError(`${name}() was given ${problem}. ${takes}`);
}

/** The axes that a `dim` argument names, from 0; `undefined` when all are meant. */
export function axesOf(dim: Value | undefined, rank: number): number[] | undefined {
  if (dim === undefined || dim === null) return undefined;
  if (dim instanceof Sequence && dim.items.length === 0) return undefined;
  if (dim instanceof Sequence) return dim.items.map((item) => axisOf(item, rank));
  return [axisOf(dim, rank)];
}

export function axisOf(dim: Value, rank: number): number {
  const axis = scalarOf(dim);
  if (axis === undefined || !Number.isInteger(axis) || typeof dim === 'boolean')
    throw new ExpressionError(`"dim" must be a whole number, not ${describeType(dim)}.`);
  // A tensor of rank 0 has one axis as far as PyTorch's dim goes.
  const axes = Math.max(rank, 1);
  if (axis < -axes || axis >= axes)
    throw new ExpressionError(
      `dim=${axis} does not exist in a tensor of rank ${rank}; choose ${-axes} to ${axes - 1}.`,
    );
  return axis < 0 ? axis + axes : axis;
}

/** True or False, by default False. */
export function flag(value: Value | undefined, name: string): boolean {
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw new ExpressionError(`"${name}" must be True or False, not ${describeType(value)}.`);
}

export function numberArgument(value: Value | undefined, name: string, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  const x = scalarOf(value);
  if (x === undefined) throw new ExpressionError(`"${name}" must be a number, not ${describeType(value)}.`);
  return x;
}

export function tensorArgument(value: Value | undefined, name: string): TensorValue {
  if (value instanceof TensorValue) return value;
  throw new ExpressionError(`${name} needs a tensor, not ${describeType(value ?? null)}.`);
}
