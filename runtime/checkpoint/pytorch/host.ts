/** What the allowed globals build: tensors as strided views of storages, and plain containers. */
import { formatCount } from '../../../src/protocol/numbers';
import { BYTES, type DType } from '../../tensor/dtype';
import { CheckpointError } from '../errors';
import { countElements, formatShape, isCount } from '../record';
import { findGlobal } from './globals';
import type { PickleHost } from './pickle';
import {
  Dict,
  Global,
  Inert,
  kindOf,
  List,
  PickledTensor,
  type PickleValue,
  type Storage,
  StorageView,
  Tuple,
} from './values';

const MAX_RANK = 64;
/** An expanded tensor (stride 0) may have more elements than its storage, but not absurdly many. */
const MAX_EXPANDED = 1 << 24;

/** Finds a storage by key; `byteLength` is what the pickle says that it holds. */
export type FindStorage = (key: string, dtype: DType | undefined, byteLength: number) => Storage;

export class TorchHost implements PickleHost {
  constructor(
    private readonly file: string,
    private readonly findStorage: FindStorage,
  ) {}

  global(module: string, name: string): Global {
    return findGlobal(module, name, this.file);
  }

  call(callee: PickleValue, args: PickleValue): PickleValue {
    if (!(callee instanceof Global)) throw this.damaged(`${kindOf(callee)} is called as a function`);
    const items = args instanceof Tuple ? args.items : [];
    if (callee.role.kind === 'inert') return new Inert(callee.path);
    if (callee.role.kind !== 'call') throw this.damaged(`${callee.path} is called as a function`);
    switch (callee.role.name) {
      case 'tensor':
        return this.tensor(items, undefined);
      case 'tensorV3':
        return this.tensor(items, items[6]);
      case 'parameter':
        return this.parameter(items[0]);
      case 'fromType':
        return this.fromType(items);
      case 'dict':
        return this.dict(items[0]);
      case 'list':
        return this.list(items[0]);
      case 'tuple':
        return new Tuple(itemsOf(items[0]) ?? []);
    }
  }

  /** ('storage', class, key, device, elements[, view]); the view of the old format is (key, offset, elements). */
  persistent(id: PickleValue): StorageView {
    const [tag, type, key, , count, view] = id instanceof Tuple ? id.items : [];
    if (tag !== 'storage' || !(type instanceof Global) || type.role.kind !== 'storage' || !isCount(count))
      throw this.damaged('a persistent id does not name a storage');
    if (typeof key !== 'string' && typeof key !== 'number') throw this.damaged('a storage has no key');
    const { dtype } = type.role;
    const size = dtype ? BYTES[dtype] : 1;
    const storage = this.findStorage(String(key), dtype, count * size);
    if (!(view instanceof Tuple)) return new StorageView(storage, dtype, 0, count * size);
    const [, offset, length] = view.items;
    if (!isCount(offset) || !isCount(length) || offset + length > count)
      throw this.damaged(`a view of storage ${key} lies outside it`);
    return new StorageView(storage, dtype, offset * size, length * size);
  }

  /** (storage, offset, size, stride, ...), all in elements. */
  private tensor(args: readonly PickleValue[], type: PickleValue | undefined): PickledTensor {
    const [view, offset, sizes, steps] = args;
    if (!(view instanceof StorageView)) throw this.damaged(`a tensor is built on ${kindOf(view)}`);
    const dtype = type instanceof Global && type.role.kind === 'dtype' ? type.role.dtype : view.dtype;
    if (!dtype) throw this.damaged('a tensor has no element type');
    const shape = itemsOf(sizes);
    const strides = itemsOf(steps);
    if (!isCount(offset) || !shape?.every(isCount) || !strides?.every(isCount))
      throw this.damaged('the sizes, strides or offset of a tensor are not counts');
    if (shape.length !== strides.length || shape.length > MAX_RANK)
      throw this.damaged(`a tensor has ${shape.length} sizes and ${strides.length} strides`);
    this.checkExtent(view, dtype, offset, shape, strides);
    return new PickledTensor(view.storage, dtype, view.byteOffset + offset * BYTES[dtype], shape, strides);
  }

  private checkExtent(
    view: StorageView,
    dtype: DType,
    offset: number,
    shape: readonly number[],
    strides: readonly number[],
  ): void {
    const held = Math.floor(view.byteLength / BYTES[dtype]);
    const count = countElements(shape);
    const end = offset + extent(shape, strides);
    if (end <= held && count <= Math.max(held, MAX_EXPANDED)) return;
    const needs = end > held ? formatCount(end) : formatCount(count);
    throw this.damaged(
      `a tensor of shape ${formatShape(shape)} needs ${needs} elements of storage ${view.storage.key}, ` +
        `which holds ${formatCount(held)}`,
    );
  }

  private parameter(data: PickleValue | undefined): PickledTensor {
    if (data instanceof PickledTensor) return data;
    throw this.damaged(`a parameter is built from ${kindOf(data)}`);
  }

  /** (function, class, arguments, state): a tensor with attributes; they are dropped. */
  private fromType([build, , args]: readonly PickleValue[]): PickleValue {
    if (!(build instanceof Global) || build.role.kind !== 'call' || build.role.name === 'fromType')
      throw this.damaged(`a tensor is built by ${kindOf(build)}`);
    return this.call(build, args ?? null);
  }

  /** OrderedDict(pairs), or empty. */
  private dict(pairs: PickleValue | undefined): Dict {
    const dict = new Dict();
    for (const pair of itemsOf(pairs) ?? []) {
      const [key, value] = itemsOf(pair) ?? [];
      if (key === undefined || value === undefined) throw this.damaged('a dict is built from no pairs');
      dict.set(key, value);
    }
    return dict;
  }

  private list(items: PickleValue | undefined): List {
    const list = new List();
    for (const item of itemsOf(items) ?? []) list.items.push(item);
    return list;
  }

  private damaged(what: string): CheckpointError {
    return new CheckpointError(`${this.file} is damaged: ${what}. Copy or download it again.`);
  }
}

function itemsOf(value: PickleValue | undefined): readonly PickleValue[] | undefined {
  return value instanceof Tuple || value instanceof List ? value.items : undefined;
}

/** Elements from the first to one behind the last element of a strided view; 0 when it is empty. */
export function extent(shape: readonly number[], strides: readonly number[]): number {
  if (shape.includes(0)) return 0;
  return shape.reduce((end, size, axis) => end + (size - 1) * strides[axis], 1);
}
