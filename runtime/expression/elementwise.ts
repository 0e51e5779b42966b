import { map, zip } from '../kernels/elementwise';
import type { DType } from '../tensor/dtype';
import type { Tensor } from '../tensor/tensor';
import { ExpressionError } from './errors';
import { type Kind, kindOf, shapeText, TensorValue, temporary } from './values';

/** One side of an operation: a tensor, or a number that applies to every element. */
export type Operand = TensorValue | number;

/** f of every element, as a tensor of the same shape. */
export function mapTensor(x: TensorValue, f: (x: number) => number, dtype: DType): TensorValue {
  if (x.tensor.rank === 0) return TensorValue.scalar(f(x.item()), dtype);
  const y = temporary(x.tensor.shape, dtype);
  map(x.tensor, y, f);
  return new TensorValue(y);
}

/**
 * f of every pair of elements; shapes are broadcast as in PyTorch. A number beside a float tensor is rounded
 * to float32 first, so that `x == 0.1` finds what was stored as 0.1.
 */
export function zipTensors(
  a: Operand,
  b: Operand,
  f: (a: number, b: number) => number,
  dtype: DType,
): TensorValue {
  const isFloat = operandKind(a) === 'float' || operandKind(b) === 'float';
  const left = scalarOperand(a, isFloat);
  const right = scalarOperand(b, isFloat);
  if (left !== undefined && right !== undefined) return TensorValue.scalar(f(left, right), dtype);
  if (right !== undefined) return mapTensor(a as TensorValue, (x) => f(x, right), dtype);
  if (left !== undefined) return mapTensor(b as TensorValue, (x) => f(left, x), dtype);
  const [x, y] = [(a as TensorValue).tensor, (b as TensorValue).tensor];
  const z = temporary(broadcastShape(x, y), dtype);
  zip(x, y, z, f);
  return new TensorValue(z);
}

/** PyTorch refuses much on booleans; so do we, so that a condition means the same in both. */
export function refuseBool(x: Operand, what: string): void {
  if (x instanceof TensorValue && x.kind === 'bool')
    throw new ExpressionError(
      `${what} does not work on a boolean tensor; write .float() first.`,
      undefined,
      '.float()',
    );
}

export function operandKind(x: Operand): Kind {
  if (x instanceof TensorValue) return kindOf(x.tensor.dtype);
  return Number.isInteger(x) ? 'int' : 'float';
}

function scalarOperand(x: Operand, isFloat: boolean): number | undefined {
  if (x instanceof TensorValue) return x.tensor.rank === 0 ? x.item() : undefined;
  return isFloat ? Math.fround(x) : x;
}

/** The shape that two tensors are broadcast to. Throws an `ExpressionError` when they do not fit. */
export function broadcastShape(x: Tensor, y: Tensor): number[] {
  const rank = Math.max(x.rank, y.rank);
  return Array.from({ length: rank }, (_, axis) => {
    const a = x.shape[axis - rank + x.rank] ?? 1;
    const b = y.shape[axis - rank + y.rank] ?? 1;
    if (a !== b && a !== 1 && b !== 1)
      throw new ExpressionError(
        `Shapes ${shapeText(x.shape)} and ${shapeText(y.shape)} do not fit: ${a} is not ${b} on axis ${axis - rank}.`,
      );
    return a === 1 ? b : a;
  });
}
