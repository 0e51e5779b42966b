import type { DType } from '../tensor/dtype';
import { Tensor } from '../tensor/tensor';
import { ExpressionError } from './errors';

/** What an expression can give. Whole numbers and floats are one type; True and False count as 1 and 0. */
export type Value = number | boolean | string | null | Sequence | TensorValue;

/** A tuple or a list. */
export class Sequence {
  constructor(
    readonly kind: 'tuple' | 'list',
    readonly items: readonly Value[],
  ) {}

  static tuple(items: readonly Value[]): Sequence {
    return new Sequence('tuple', items);
  }
}

/** A tensor inside an expression. Statistics are tensors of rank 0, as in PyTorch. */
export class TensorValue {
  /** `exact` is the value of a tensor of rank 0 whose whole number float32 storage might not hold. */
  constructor(
    readonly tensor: Tensor,
    private readonly exact?: number,
  ) {}

  /** A tensor of rank 0; floats are rounded to float32. */
  static scalar(x: number, dtype: DType): TensorValue {
    const tensor = new Tensor(Float32Array.of(x), [], [], 0, dtype);
    return new TensorValue(tensor, kindOf(dtype) === 'int' ? x : undefined);
  }

  get kind(): Kind {
    return kindOf(this.tensor.dtype);
  }

  /** The only element. Throws an `ExpressionError` when there are more or none. */
  item(): number {
    const { tensor } = this;
    if (this.exact !== undefined) return this.exact;
    if (tensor.numel === 1) return tensor.data[tensor.offset];
    throw new ExpressionError(
      `item() needs a tensor of one element, not of shape ${shapeText(tensor.shape)}.`,
    );
  }
}

/** The names that an expression may use. */
export interface Scope {
  get(name: string): Value | undefined;
  names(): string[];
}

export type Kind = 'bool' | 'int' | 'float';

export function kindOf(dtype: DType): Kind {
  if (dtype === 'bool') return 'bool';
  return dtype.startsWith('float') || dtype === 'bfloat16' ? 'float' : 'int';
}

/** The type of what is computed from values of these kinds; the embedded target computes in float32. */
export const DTYPE_OF: Record<Kind, DType> = { bool: 'bool', int: 'int64', float: 'float32' };

/** No expression may make a larger tensor than this. */
export const MAX_ELEMENTS = 64 * 1024 * 1024;

/** A new row-major tensor of zeros. Throws an `ExpressionError` when it would be too large. */
export function temporary(shape: readonly number[], dtype: DType): Tensor {
  const numel = shape.reduce((n, size) => n * size, 1);
  guardSize(numel);
  return new Tensor(new Float32Array(numel), shape, undefined, 0, dtype);
}

export function guardSize(numel: number): void {
  if (numel <= MAX_ELEMENTS) return;
  const [asked, most] = [numel, MAX_ELEMENTS].map((n) => n.toLocaleString('en-US'));
  const what = `This would make a temporary tensor of ${asked} elements, more than the ${most} allowed`;
  throw new ExpressionError(`${what}; take a slice or a statistic first.`);
}

/** The number that a value stands for; True is 1. `undefined` when it is none. */
export function plainNumber(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return undefined;
}

/** As `plainNumber`, and the element of a tensor that has only one. */
export function scalarOf(value: Value): number | undefined {
  if (value instanceof TensorValue) return value.tensor.numel === 1 ? value.item() : undefined;
  return plainNumber(value);
}

/** A whole number, e.g. an index. Throws an `ExpressionError` that begins with `what`. */
export function wholeNumber(value: Value, what: string): number {
  const x = value instanceof TensorValue && value.kind === 'float' ? undefined : scalarOf(value);
  if (x === undefined || !Number.isInteger(x))
    throw new ExpressionError(`${what} must be a whole number, not ${describeType(value)}.`);
  return x;
}

/** `a float`, `a tensor of shape (2, 3)`, ...: for error sentences. */
export function describeType(value: Value): string {
  if (value === null) return 'None';
  if (value instanceof TensorValue) {
    const { shape } = value.tensor;
    return shape.length ? `a tensor of shape ${shapeText(shape)}` : 'a tensor of one element';
  }
  if (value instanceof Sequence) return `a ${value.kind}`;
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return `the number ${value}`;
}

/** A shape as Python writes it. */
export function shapeText(shape: readonly number[]): string {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
}
