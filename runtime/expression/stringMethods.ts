import type { Bound, Parameters } from './arguments';
import { ExpressionError } from './errors';
import { describeType, Sequence, type Value } from './values';

interface StringMethod extends Parameters {
  call(self: string, args: Bound): Value;
}

/** Methods of strings, e.g. `module.startswith("layers.3")`. */
export const STRING_METHODS: Readonly<Record<string, StringMethod>> = {
  startswith: { names: ['prefix'], required: 1, call: (s, a) => some(a.prefix!, (x) => s.startsWith(x)) },
  endswith: { names: ['suffix'], required: 1, call: (s, a) => some(a.suffix!, (x) => s.endsWith(x)) },
  lower: { names: [], call: (s) => s.toLowerCase() },
  upper: { names: [], call: (s) => s.toUpperCase() },
};

/** Whether the test holds for a string, or for one of a tuple of them. */
function some(value: Value, test: (x: string) => boolean): boolean {
  if (value instanceof Sequence) return value.items.some((item) => some(item, test));
  if (typeof value === 'string') return test(value);
  throw new ExpressionError(`A string was expected, not ${describeType(value)}.`);
}
