import type { BinaryOperator } from './ast';
import { combineNumbers } from './elements';
import { mapTensor, type Operand, operandKind, refuseBool, refuseZero, zipTensors } from './elementwise';
import { ExpressionError } from './errors';
import { bitAnd, bitOr, divide, floorDivide, modulo, power } from './pythonMath';
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

/** Of plain numbers, as Python has it; elements of tensors are in elements.ts. */
const OF_NUMBERS: Record<BinaryOperator, (a: number, b: number) => number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': divide,
  '//': floorDivide,
  '%': modulo,
  '**': power,
  '&': bitAnd,
  '|': bitOr,
};

type Ordering = '<' | '<=' | '>' | '>=' | '==' | '!=';

/** `left operator right`. Throws an `ExpressionError` when Python or PyTorch would raise. */
export function binary(operator: BinaryOperator, left: Value, right: Value): Value {
  if (operator === '&' || operator === '|') return bitwise(operator, left, right);
  const a = operandOf(left);
  const b = operandOf(right);
  if (a !== undefined && b !== undefined) {
    if (typeof a === 'number' && typeof b === 'number') return OF_NUMBERS[operator](a, b);
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
  if (kind === 'int' && isDivision) refuseZero(b);
  return booleanOf(zipTensors(operator, a, b, DTYPE_OF[kind]));
}

/** Sums and products of booleans are booleans. */
function booleanOf(x: TensorValue): TensorValue {
  return x.kind === 'bool' ? mapTensor(x, 'bool', 'bool') : x;
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
    const write = `(x > 0) ${operator} (y > 0)`;
    throw new ExpressionError(
      `"${operator}" needs booleans, not ${a} and ${b}; it binds tighter than ">", so write ${write}.`,
      undefined,
      write,
    );
  }
  const isBool = kinds.every((kind) => kind === 'bool');
  const [a, b] = [operandOf(left)!, operandOf(right)!];
  if (typeof a !== 'number' || typeof b !== 'number')
    return zipTensors(operator, a, b, isBool ? 'bool' : 'int64');
  const bits = OF_NUMBERS[operator](a, b);
  return isBool ? bits !== 0 : bits;
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
  return mapTensor(x, 'neg', x.tensor.dtype);
}

function invert(value: Value): Value {
  const kind = bitKind(value);
  if (typeof value === 'boolean')
    throw new ExpressionError('"~" of True is -2 in Python; write not.', undefined, 'not');
  if (typeof value === 'number' && kind === 'int') return -value - 1;
  if (value instanceof TensorValue && kind)
    return mapTensor(value, kind === 'bool' ? 'logical_not' : (e) => -e - 1, value.tensor.dtype);
  throw new ExpressionError(`"~" needs a boolean tensor, not ${typeText(value)}.`);
}

/** One comparison other than `in` and `is`; elementwise when a tensor is among the operands. */
export function compare(operator: Ordering, left: Value, right: Value): Value {
  const a = operandOf(left);
  const b = operandOf(right);
  if (a !== undefined && b !== undefined) {
    if (typeof a === 'number' && typeof b === 'number') return combineNumbers(operator, a, b) === 1;
    return zipTensors(operator, a, b, 'bool');
  }
  if (operator === '==') return equal(left, right);
  if (operator === '!=') return !equal(left, right);
  return combineNumbers(operator, order(left, right, operator), 0) === 1;
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
  const same = zipTensors('==', a, b, 'bool');
  if (same.tensor.numel !== 1)
    throw new ExpressionError(
      `${describeType(left)} == ${describeType(right)} has no single answer; write (a == b).all().`,
      undefined,
      '(a == b).all()',
    );
  return same.item() === 1;
}

/** Negative, zero or positive; strings and sequences compare item by item. */
function order(left: Value, right: Value, operator: Ordering): number {
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
  const found = zipTensors('==', container, x, 'bool');
  return found.tensor.data.includes(1);
}
