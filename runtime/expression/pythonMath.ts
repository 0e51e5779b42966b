import { ExpressionError } from './errors';

/** Arithmetic on plain numbers as Python does it; wrong operands are `ExpressionError`s. */

export function divide(a: number, b: number): number {
  refuseZero(b);
  return a / b;
}

export function floorDivide(a: number, b: number): number {
  refuseZero(b);
  return floorQuotient(a, b);
}

export function modulo(a: number, b: number): number {
  refuseZero(b);
  return floorRemainder(a, b);
}

export function power(a: number, b: number): number {
  if (a === 0 && b < 0) throw new ExpressionError('0 cannot be raised to a negative power.');
  if (a < 0 && Number.isFinite(a) && Number.isFinite(b) && !Number.isInteger(b))
    throw new ExpressionError('A negative number raised to a fraction is complex, which is not supported.');
  const x = realPower(a, b);
  if (!Number.isFinite(x) && Number.isFinite(a) && Number.isFinite(b))
    throw new ExpressionError(`${a} ** ${b} is too large for a number.`);
  return x;
}

function refuseZero(divisor: number): void {
  if (divisor === 0) throw new ExpressionError('A number is divided by zero.');
}

/** The largest whole number below a / b, from the exact remainder: 1.0 // 0.1 is 9. */
export function floorQuotient(a: number, b: number): number {
  if (b === 0) return a / b;
  const remainder = a % b;
  const borrow = remainder !== 0 && remainder < 0 !== b < 0 ? 1 : 0;
  // Whole up to rounding, since the remainder is taken off.
  const quotient = Math.round((a - remainder) / b) - borrow;
  return quotient === 0 && a / b < 0 ? -0 : quotient;
}

/** The remainder with the sign of the divisor. */
export function floorRemainder(a: number, b: number): number {
  const remainder = a % b;
  return remainder !== 0 && remainder < 0 !== b < 0 ? remainder + b : remainder;
}

/** a ** b as IEEE 754 has it: 1 ** NaN is 1. */
export function realPower(a: number, b: number): number {
  if (a === 1) return 1;
  if (a === -1 && Math.abs(b) === Number.POSITIVE_INFINITY) return 1;
  return a ** b;
}

/** Rounds to `digits` decimals; a tie goes to the even neighbour. */
export function roundEven(x: number, digits = 0): number {
  if (!Number.isFinite(x)) return x;
  if (digits < -300) return 0;
  const factor = 10 ** digits;
  const scaled = x * factor;
  const below = Math.floor(scaled);
  // Only a number with so few binary digits can lie exactly in the middle.
  const tie = scaled - below === 0.5 && Number.isInteger(x * 2 ** (Math.max(digits, 0) + 1));
  if (tie) return (below % 2 === 0 ? below : below + 1) / factor;
  if (digits < 0) return Math.round(scaled) / factor;
  return digits > 100 ? x : Number(x.toFixed(digits));
}

/** `&` and `|` of whole numbers of any size that a float64 holds. */
export function bitAnd(a: number, b: number): number {
  return isSmall(a) && isSmall(b) ? a & b : Number(BigInt(a) & BigInt(b));
}

export function bitOr(a: number, b: number): number {
  return isSmall(a) && isSmall(b) ? a | b : Number(BigInt(a) | BigInt(b));
}

function isSmall(x: number): boolean {
  return x === (x | 0);
}
