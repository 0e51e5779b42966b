import { type Layout, type Tensor, view } from '../tensor/tensor';
import type { IndexItem, Node } from './ast';
import { ExpressionError } from './errors';
import {
  describeType,
  guardSize,
  Sequence,
  shapeText,
  TensorValue,
  temporary,
  type Value,
  wholeNumber,
} from './values';

/** One part of a subscript with its values known. */
export type Index =
  | { readonly type: 'ellipsis' }
  | { readonly type: 'slice'; readonly from: Value; readonly to: Value; readonly step: Value }
  | { readonly type: 'value'; readonly value: Value };

/** Evaluates the parts of a subscript; a tuple as the only part counts as its items. */
export function evaluateIndices(items: readonly IndexItem[], evaluate: (node: Node) => Value): Index[] {
  const optional = (node: Node | undefined) => (node ? evaluate(node) : null);
  const indices = items.map((item): Index => {
    if (item.type === 'ellipsis') return item;
    if (item.type === 'value') return { type: 'value', value: evaluate(item.value) };
    return { type: 'slice', from: optional(item.from), to: optional(item.to), step: optional(item.step) };
  });
  const [first] = indices;
  if (indices.length === 1 && first.type === 'value' && first.value instanceof Sequence)
    return first.value.items.map((value) => ({ type: 'value', value }));
  return indices;
}

/** `object[indices]`. Throws an `ExpressionError`. */
export function subscript(object: Value, indices: readonly Index[]): Value {
  if (object instanceof TensorValue) return subscriptTensor(object, indices);
  if (object instanceof Sequence) {
    const part = subscriptItems(object.items, indices, object.kind);
    return Array.isArray(part) ? new Sequence(object.kind, part) : (part as Value);
  }
  if (typeof object === 'string') {
    const part = subscriptItems(Array.from(object), indices, 'string');
    return Array.isArray(part) ? part.join('') : (part as string);
  }
  throw new ExpressionError(`${capitalize(describeType(object))} cannot be indexed.`);
}

function capitalize(text: string): string {
  return text[0].toUpperCase() + text.slice(1);
}

/** One item, or an array of them for a slice. */
function subscriptItems<T>(items: readonly T[], indices: readonly Index[], what: string): T | T[] {
  const [index] = indices;
  if (indices.length !== 1 || index.type === 'ellipsis')
    throw new ExpressionError(`A ${what} takes one index.`);
  if (index.type === 'value') {
    const i = wholeNumber(index.value, 'An index');
    const at = i < 0 ? i + items.length : i;
    if (at < 0 || at >= items.length)
      throw new ExpressionError(`Index ${i} is out of range for a ${what} of ${items.length}.`);
    return items[at];
  }
  const { start, count, step } = sliceRange(index, items.length);
  return Array.from({ length: count }, (_, k) => items[start + k * step]);
}

/** Python's slice of an axis: first element, how many, and the way between them. */
function sliceRange(index: Index & { type: 'slice' }, size: number) {
  const step = bound(index.step, 1);
  if (step === 0) throw new ExpressionError('The step of a slice cannot be 0.');
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
  const clip = (x: number) => Math.max(low, Math.min(x < 0 ? x + size : x, high));
  const start = index.from === null ? (step > 0 ? low : high) : clip(bound(index.from, 0));
  const stop = index.to === null ? (step > 0 ? high : low) : clip(bound(index.to, 0));
  return { start, step, count: Math.max(0, Math.ceil((stop - start) / step)) };
}

function bound(value: Value, fallback: number): number {
  return value === null ? fallback : wholeNumber(value, 'The bound of a slice');
}

function subscriptTensor(x: TensorValue, indices: readonly Index[]): Value {
  const [only] = indices;
  if (indices.length === 1 && only.type === 'value' && isMask(only.value))
    return select(x.tensor, only.value.tensor);
  let layout: Layout = x.tensor;
  let axis = 0;
  for (const index of expandEllipsis(indices, x.tensor)) {
    if (index.type === 'value' && index.value === null) layout = insertAxis(layout, axis++);
    else if (index.type === 'slice') layout = sliceAxis(layout, axis++, index);
    else if (index.type === 'value') layout = view.select(layout, axis, position(layout, axis, index.value));
  }
  return new TensorValue(x.tensor.with(layout));
}

function isMask(value: Value): value is TensorValue {
  return value instanceof TensorValue && value.kind === 'bool' && value.tensor.rank > 0;
}

/** Replaces `...` by as many whole slices as axes are left. */
function expandEllipsis(indices: readonly Index[], x: Tensor): Index[] {
  const used = indices.filter((i) => i.type === 'slice' || (i.type === 'value' && i.value !== null)).length;
  if (used > x.rank)
    throw new ExpressionError(`There are ${used} indices for a tensor of shape ${shapeText(x.shape)}.`);
  if (indices.filter((i) => i.type === 'ellipsis').length > 1)
    throw new ExpressionError('"..." can stand for the other axes only once.');
  const whole: Index = { type: 'slice', from: null, to: null, step: null };
  const rest = new Array<Index>(x.rank - used).fill(whole);
  return indices.flatMap((i) => (i.type === 'ellipsis' ? rest : [i]));
}

function insertAxis(l: Layout, axis: number): Layout {
  return { shape: l.shape.toSpliced(axis, 0, 1), strides: l.strides.toSpliced(axis, 0, 0), offset: l.offset };
}

function sliceAxis(l: Layout, axis: number, index: Index & { type: 'slice' }): Layout {
  const { start, count, step } = sliceRange(index, l.shape[axis]);
  if (step < 0) throw new ExpressionError('The step of a tensor slice must be above 0, as in PyTorch.');
  return {
    shape: l.shape.with(axis, count),
    strides: l.strides.with(axis, l.strides[axis] * step),
    offset: l.offset + (count > 0 ? start * l.strides[axis] : 0),
  };
}

function position(l: Layout, axis: number, value: Value): number {
  if (
    typeof value === 'boolean' ||
    value instanceof Sequence ||
    (value instanceof TensorValue && value.tensor.rank > 0)
  )
    throw new ExpressionError(
      `An index is a number, a slice, None, "..." or a boolean tensor, not ${describeType(value)}.`,
    );
  const i = wholeNumber(value, 'An index');
  const size = l.shape[axis];
  if (i < -size || i >= size)
    throw new ExpressionError(`Index ${i} is out of range for an axis of size ${size}.`);
  return i < 0 ? i + size : i;
}

/** The elements where `mask` is true, as one axis. */
function select(x: Tensor, mask: Tensor): TensorValue {
  if (shapeText(x.shape) !== shapeText(mask.shape))
    throw new ExpressionError(
      `A mask of shape ${shapeText(mask.shape)} does not fit a tensor of shape ${shapeText(x.shape)}.`,
    );
  guardSize(x.numel);
  const values = x.toArray().filter(keeper(mask.toArray()));
  const result = temporary([values.length], x.dtype);
  result.data.set(values);
  return new TensorValue(result);
}

function keeper(mask: Float32Array): (x: number, i: number) => boolean {
  return (_, i) => mask[i] !== 0;
}
