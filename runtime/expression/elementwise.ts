import { expand } from '../kernels/elementwise';
import type { DType } from '../tensor/dtype';
import type { Tensor } from '../tensor/tensor';
import {
  type Conversion,
  combineArrays,
  combineLeft,
  combineNumbers,
  combineRight,
  convertArray,
  convertNumber,
  type Operation,
} from './elements';
import { ExpressionError } from './errors';
import { uniformComparison, uniformConversion } from './uniform';
import { type Kind, kindOf, shapeText, TensorValue, temporary } from './values';

/** One side of an operation: a tensor, or a number that applies to every element. */
export type Operand = TensorValue | number;

/** f of every element, as a tensor of the same shape. */
export function mapTensor(
  x: TensorValue,
  f: Conversion | ((x: number) => number),
  dtype: DType,
): TensorValue {
  const { tensor } = x;
  if (tensor.rank === 0)
    return TensorValue.scalar(typeof f === 'string' ? convertNumber(f, x.item()) : f(x.item()), dtype);
  const y = temporary(tensor.shape, dtype);
  const uniform = typeof f === 'string' ? uniformConversion(f, tensor) : undefined;
  if (uniform !== undefined) return filled(y, uniform);
  const data = tensor.toArray();
  if (typeof f === 'string') convertArray(f, data, y.data);
  else for (let i = 0; i < data.length; i++) y.data[i] = f(data[i]);
  return new TensorValue(y);
}

/**
 * An operation on every pair of elements; shapes are broadcast as in PyTorch. A number beside a float tensor
 * is rounded to float32 first, so that `x == 0.1` finds what was stored as 0.1.
 */
export function zipTensors(operation: Operation, a: Operand, b: Operand, dtype: DType): TensorValue {
  const isFloat = operandKind(a) === 'float' || operandKind(b) === 'float';
  const left = scalarOperand(a, isFloat);
  const right = scalarOperand(b, isFloat);
  if (left !== undefined && right !== undefined)
    return TensorValue.scalar(combineNumbers(operation, left, right), dtype);
  if (right !== undefined) {
    const { tensor } = a as TensorValue;
    const z = temporary(tensor.shape, dtype);
    const uniform = uniformComparison(operation, tensor, right);
    if (uniform !== undefined) return filled(z, uniform);
    combineRight(operation, tensor.toArray(), right, z.data);
    return new TensorValue(z);
  }
  if (left !== undefined) {
    const { tensor } = b as TensorValue;
    const z = temporary(tensor.shape, dtype);
    combineLeft(operation, left, tensor.toArray(), z.data);
    return new TensorValue(z);
  }
  const [x, y] = [(a as TensorValue).tensor, (b as TensorValue).tensor];
  const z = temporary(broadcastShape(x, y), dtype);
  combineArrays(operation, expand(x, z.shape).toArray(), expand(y, z.shape).toArray(), z.data);
  return new TensorValue(z);
}

function filled(fresh: Tensor, x: number): TensorValue {
  // Fresh storage is all zeros.
  if (x !== 0) fresh.data.fill(x);
  return new TensorValue(fresh);
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

/** Whole numbers have no infinity, so that PyTorch refuses to divide them by zero. */
export function refuseZero(divisor: Operand): void {
  const x = divisor instanceof TensorValue ? divisor.tensor.toArray() : [divisor];
  if (x.includes(0)) throw new ExpressionError('A whole number is divided by zero.');
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
function broadcastShape(x: Tensor, y: Tensor): number[] {
  const rank = Math.max(x.rank, y.rank);
  return Array.from({ length: rank }, (_, axis) => {
    const a = x.shape[axis - rank + x.rank] ?? 1;
    const b = y.shape[axis - rank + y.rank] ?? 1;
    if (a !== b && a !== 1 && b !== 1) {
      const shapes = `${shapeText(x.shape)} and ${shapeText(y.shape)}`;
      throw new ExpressionError(`Shapes ${shapes} do not fit: ${a} is not ${b} on axis ${axis - rank}.`);
    }
    return a === 1 ? b : a;
  });
}
