import { bitAnd, bitOr, floorQuotient, floorRemainder, realPower } from './pythonMath';

/**
 * Loops over plain arrays. What is computed is a code that one function switches on: the compiler then keeps
 * the numbers in registers, where a function per operation would put each of them on the heap.
 */

/** Operations of two elements; the position is the code. Comparisons give 1 or 0. */
const OPERATIONS = ['<', '<=', '>', '>=', '==', '!=', '+', '-', '*', '/', '//', '%', '**', '&', '|'] as const;
export type Operation = (typeof OPERATIONS)[number];

function combine(code: number, a: number, b: number): number {
  switch (code) {
    case 0:
      return a < b ? 1 : 0;
    case 1:
      return a <= b ? 1 : 0;
    case 2:
      return a > b ? 1 : 0;
    case 3:
      return a >= b ? 1 : 0;
    case 4:
      return a === b ? 1 : 0;
    case 5:
      return a !== b ? 1 : 0;
    case 6:
      return a + b;
    case 7:
      return a - b;
    case 8:
      return a * b;
    case 9:
      return a / b;
    case 10:
      return floorQuotient(a, b);
    case 11:
      return floorRemainder(a, b);
    case 12:
      return realPower(a, b);
    case 13:
      return bitAnd(a, b);
    default:
      return bitOr(a, b);
  }
}

export function combineNumbers(operation: Operation, a: number, b: number): number {
  return combine(OPERATIONS.indexOf(operation), a, b);
}

export function combineArrays(op: Operation, a: Float32Array, b: Float32Array, out: Float32Array): void {
  const code = OPERATIONS.indexOf(op);
  for (let i = 0; i < out.length; i++) out[i] = combine(code, a[i], b[i]);
}

export function combineRight(op: Operation, a: Float32Array, b: number, out: Float32Array): void {
  const code = OPERATIONS.indexOf(op);
  for (let i = 0; i < out.length; i++) out[i] = combine(code, a[i], b);
}

export function combineLeft(op: Operation, a: number, b: Float32Array, out: Float32Array): void {
  const code = OPERATIONS.indexOf(op);
  for (let i = 0; i < out.length; i++) out[i] = combine(code, a, b[i]);
}

/** Operations of one element that conditions use often; the position is the code. */
const CONVERSIONS = [
  'copy',
  'abs',
  'neg',
  'square',
  'isnan',
  'isinf',
  'isfinite',
  'logical_not',
  'bool',
] as const;
export type Conversion = (typeof CONVERSIONS)[number];

function convert(code: number, x: number): number {
  switch (code) {
    case 0:
      return x;
    case 1:
      return Math.abs(x);
    case 2:
      return -x;
    case 3:
      return x * x;
    case 4:
      return Number.isNaN(x) ? 1 : 0;
    case 5:
      return Math.abs(x) === Number.POSITIVE_INFINITY ? 1 : 0;
    case 6:
      return Number.isFinite(x) ? 1 : 0;
    case 7:
      return x === 0 ? 1 : 0;
    default:
      return x !== 0 ? 1 : 0;
  }
}

export function convertNumber(conversion: Conversion, x: number): number {
  return convert(CONVERSIONS.indexOf(conversion), x);
}

export function convertArray(conversion: Conversion, x: Float32Array, out: Float32Array): void {
  const code = CONVERSIONS.indexOf(conversion);
  for (let i = 0; i < out.length; i++) out[i] = convert(code, x[i]);
}
