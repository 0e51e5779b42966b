import type { DType } from '../tensor/dtype';
import type { Tensor } from '../tensor/tensor';

/** One tensor of a checkpoint, known by its header; its values are read by `load`. */
export interface TensorRecord {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** In elements. */
  readonly strides: readonly number[];
  /** Reads the values as float32; the tensor keeps `dtype`. Throws a CheckpointError if the file has changed. */
  load(): Tensor;
}

/** A size or count from a file: a whole number from 0 to 2^53 - 1. */
export function isCount(x: unknown): x is number {
  return typeof x === 'number' && Number.isSafeInteger(x) && x >= 0;
}

/** Elements of a shape of counts; Infinity when there are more than a number can hold exactly. */
export function countElements(shape: readonly number[]): number {
  if (shape.includes(0)) return 0;
  const n = shape.reduce((product, size) => product * size, 1);
  return Number.isSafeInteger(n) ? n : Number.POSITIVE_INFINITY;
}

/** `[1, 197, 192]`. */
export function formatShape(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`;
}

/** A name from a file, shortened so that a hostile one cannot fill the screen. */
export function quoteName(name: string): string {
  const clean = name.replace(/[\p{Cc}\p{Cf}]/gu, '?');
  return `"${clean.length > 80 ? `${clean.slice(0, 77)}...` : clean}"`;
}
