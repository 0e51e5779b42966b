import type { BinaryOperator, Comparison } from './ast';
import { mapTensor, type Operand, operandKind, refuseBool, zipTensors } from './elementwise';
import { ExpressionError } from './errors';
import {
  bitAnd,
  bitOr,
  divide,
  floorDivide,
  floorQuotient,
  floorRemainder,
  modulo,
  power,
  realPower,
} from './pythonMath';
import {
  DTYPE_OF,
  describeType,
  type Kind,
  plainNumber,
  Sequence,
  scalarOf,
  TensorValue,
  type Value,
} from './values';

type Combine = (a: number, b: number) => number;

interface Arithmetic {
  numbers: Combine;
  /** Of elements, where PyTorch follows IEEE 754 instead of raising. */
  elements: Combine;
}

const add: Combine = (a, b) => a + b;
const subtract: Combine = (a, b) => a - b;
const multiply: Combine = (a, b) => a * b;

const ARITHMETIC: Record<BinaryOperator, Arithmetic> = {
  '+': { numbers: add, elements: add },
  '-': { numbers: subtract, elements: subtract },
  '*': { numbers: multiply, elements: multiply },
  '/': { numbers: divide, elements: (a, b) => a / b },
  '//': { numbers: floorDivide, elements: floorQuotient },
  '%': { numbers: modulo, elements: floorRemainder },
  '**': { numbers: power, elements: realPower },
  '&': { numbers: bitAnd, elements: bitAnd },
  '|': { numbers: bitOr, elements: bitOr },
};

const COMPARE: Record<string, Combine> = {
  '<': (a, b) => Number(a < b),
  '<=': (a, b) => Number(a <= b),
  '>': (a, b) => Number(a > b),
  '>=': (a, b) => Number(a >= b),
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
};

/** `left operator right`. Throws an `ExpressionError` when Python or PyTorch would raise. */
export function binary(operator: BinaryOperator, left: Value, right: Value): Value {
  if (operator === '&' || operator === '|') return bitwise(operator, left, right);
  const a = operandOf(left);
  const b = operandOf(right);
  if (a !== undefined && b !== undefined) {
    if (typeof a === 'number' && typeof b === 'number') return ARITHMETIC[operator].numbers(a, b);
    return tensorArithmetic(operator, a, b);
  }
  if (operator === '+') {
    if (typeof left === 'string' && typeof right === 'string') return left + right;
    if (left instanceof Sequence && right instanceof Sequence && left.kind === right.kind)
      return new Sequence(left.kind, [...left.items, ...right.items]);
  }
  throw new ExpressionError(
    `"${operator}" does not work on ${describeType(left)} and ${describeType(right)}.`,
  );
}

function tensorArithmetic(operator: BinaryOperator, a: Operand, b: Operand): TensorValue {
  const kind = operator === '/' ? 'float' : arithmeticKind(a, b);
  const isDivision = operator === '//' || operator === '%';
  if (operator === '-' || (kind === 'bool' && isDivision)) {
    refuseBool(a, `"${operator}"`);
    refuseBool(b, `"${operator}"`);
  }
  const { numbers, elements } = ARITHMETIC[operator];
  if (kind === 'bool') return zipTensors(a, b, (x, y) => Number(elements(x, y) !== 0), 'bool');
  // Whole numbers have no infinity, so that PyTorch raises as Python does.
  return zipTensors(a, b, kind === 'int' && isDivision ? numbers : elements, DTYPE_OF[kind]);
}

function arithmeticKind(a: Operand, b: Operand): Kind {
  const kinds = [operandKind(a), operandKind(b)];
  if (kinds.includes('float')) return 'float';
  return kinds.includes('int') ? 'int' : 'bool';
}

function operandOf(value: Value): Operand | undefined {
  return value instanceof TensorValue ? value : plainNumber(value);
}

function bitwise(operator: '&' | '|', left: Value, right: Value): Value {
  const kinds = [bitKind(left), bitKind(right)];
  if (kinds.includes(undefined)) {
    const [a, b] = [left, right].map(typeText);
    throw new ExpressionError(
      `"${operator}" needs booleans, not ${a} and ${b}; it binds tighter than comparisons, so write (x > 0) ${operator} (y > 0).`,
      undefined,
      `(x > 0) ${operator} (y > 0)`,
    );
  }
  const combine = ARITHMETIC[operator].numbers;
  const isBool = kinds.every((kind) => kind === 'bool');
  const [a, b] = [operandOf(left)!, operandOf(right)!];
  if (typeof a !== 'number' || typeof b !== 'number')
    return zipTensors(a, b, combine, isBool ? 'bool' : 'int64');
  return isBool ? combine(a, b) !== 0 : combine(a, b);
}

function bitKind(value: Value): 'bool' | 'int' | undefined {
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : undefined;
  return value instanceof TensorValue && value.kind !== 'float' ? value.kind : undefined;
}

function typeText(value: Value): string {
  return value instanceof TensorValue ? `a ${value.tensor.dtype} tensor` : describeType(value);
}

/** `-x`, `+x` and `~x`. */
export function unary(operator: '-' | '+' | '~', value: Value): Value {
  const x = operandOf(value);
  if (operator === '~') return invert(value);
  if (x === undefined) throw new ExpressionError(`"${operator}" does not work on ${describeType(value)}.`);
  if (operator === '+') return typeof x === 'number' ? x : value;
  if (typeof x === 'number') return -x;
  refuseBool(x, '"-"');
  return mapTensor(x, (e) => -e, x.tensor.dtype);
}

function invert(value: Value): Value {
  const kind = bitKind(value);
  if (typeof value === 'boolean')
    throw new ExpressionError('"~" of True is -2 in Python; write not.', undefined, 'not');
  if (typeof value === 'number' && kind === 'int') return -value - 1;
  if (value instanceof TensorValue && kind)
    return mapTensor(value, kind === 'bool' ? (e) => (e ? 0 : 1) : (e) => -e - 1, value.tensor.dtype);
  throw new ExpressionError(`"~" needs a boolean tensor, not ${typeText(value)}.`);
}

/** One comparison other than `in` and `is`; elementwise when a tensor is among the operands. */
export function compare(operator: Comparison, left: Value, right: Value): Value {
  const a = operandOf(left);
  const b = operandOf(right);
  if (a !== undefined && b !== undefined) {
    const test = COMPARE[operator];
    if (typeof a === 'number' && typeof b === 'number') return test(a, b) === 1;
    return zipTensors(a, b, test, 'bool');
  }
  if (operator === '==') return equal(left, right);
  if (operator === '!=') return !equal(left, right);
  return test(operator, order(left, right, operator));
}

function test(operator: Comparison, order: number): boolean {
  return COMPARE[operator](order, 0) === 1;
}

/** Equality that always has a truth value. Throws for tensors of several elements. */
export function equal(left: Value, right: Value): boolean {
  if (left instanceof Sequence && right instanceof Sequence)
    return (
      left.kind === right.kind &&
      left.items.length === right.items.length &&
      left.items.every((item, i) => equal(item, right.items[i]))
    );
  const a = operandOf(left);
  const b = operandOf(right);
  if (a === undefined || b === undefined) return left === right;
  if (typeof a === 'number' && typeof b === 'number') return a === b;
  const same = zipTensors(a, b, COMPARE['=='], 'bool');
  if (same.tensor.numel !== 1)
    throw new ExpressionError(
      `Whether ${describeType(left)} equals ${describeType(right)} has no single answer; write (a == b).all().`,
      undefined,
      '(a == b).all()',
    );
  return same.item() === 1;
}

/** Negative, zero or positive; strings and sequences compare item by item. */
function order(left: Value, right: Value, operator: Comparison): number {
  if (typeof left === 'string' && typeof right === 'string') return compareStrings(left, right);
  if (left instanceof Sequence && right instanceof Sequence && left.kind === right.kind) {
    const n = Math.min(left.items.length, right.items.length);
    for (let i = 0; i < n; i++) {
      const [a, b] = [left.items[i], right.items[i]];
      if (equal(a, b)) continue;
      return scalarOf(compare('<', a, b)) === 1 ? -1 : 1;
    }
    return left.items.length - right.items.length;
  }
  throw new ExpressionError(
    `"${operator}" does not work on ${describeType(left)} and ${describeType(right)}.`,
  );
}

/** By code point, as Python does, where "<" of JavaScript goes by UTF-16 unit. */
function compareStrings(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  for (let i = 0; i < Math.min(a.length, b.length); i++)
    if (a[i] !== b[i]) return a[i].codePointAt(0)! - b[i].codePointAt(0)!;
  return a.length - b.length;
}

/** `item in container`. */
export function contains(container: Value, item: Value): boolean {
  if (container instanceof Sequence) return container.items.some((x) => x === item || equal(x, item));
  if (typeof container === 'string') {
    if (typeof item === 'string') return container.includes(item);
    throw new ExpressionError(`"in" looks for a string in a string, not for ${describeType(item)}.`);
  }
  if (container instanceof TensorValue) return tensorContains(container, item);
  throw new ExpressionError(
    `"in" needs a tuple, a list or a string on its right, not ${describeType(container)}.`,
  );
}

function tensorContains(container: TensorValue, item: Value): boolean {
  const x = operandOf(item);
  if (x === undefined)
    throw new ExpressionError(`"in" looks for a number in a tensor, not for ${describeType(item)}.`);
  const found = zipTensors(container, x, COMPARE['=='], 'bool');
  return found.tensor.data.includes(1);
}
