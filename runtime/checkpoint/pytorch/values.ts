import type { DType } from '../../tensor/dtype';

/** What a pickle can hold here. Containers are our own classes: nothing from a file becomes a plain object. */
export type PickleValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Tuple
  | List
  | Dict
  | Global
  | Inert
  | StorageView
  | PickledTensor;

export class Tuple {
  constructor(readonly items: readonly PickleValue[]) {}
}

/** A list or set. */
export class List {
  readonly items: PickleValue[] = [];
}

/** A dict of any kind (dict, OrderedDict, defaultdict); the map is made with the first entry. */
export class Dict {
  #entries: Map<PickleValue, PickleValue> | undefined;

  set(key: PickleValue, value: PickleValue): void {
    this.#entries ??= new Map();
    this.#entries.set(key, value);
  }

  get(key: PickleValue): PickleValue | undefined {
    return this.#entries?.get(key);
  }

  entries(): Iterable<[PickleValue, PickleValue]> {
    return this.#entries ?? [];
  }

  get size(): number {
    return this.#entries?.size ?? 0;
  }
}

/** A function or class on the allow-list, by name only. */
export class Global {
  constructor(
    readonly path: string,
    readonly role: Role,
  ) {}
}

export type Role =
  | { kind: 'call'; name: 'tensor' | 'tensorV3' | 'parameter' | 'fromType' | 'dict' | 'list' | 'tuple' }
  | { kind: 'storage'; dtype: DType | undefined } // undefined: bytes without a type
  | { kind: 'dtype'; dtype: DType }
  | { kind: 'inert' };

/** Something harmless that is no tensor (training arguments, numpy scalars); its contents are dropped. */
export class Inert {
  constructor(readonly path: string) {}
}

/** The bytes behind one or more tensors. */
export interface Storage {
  readonly key: string;
  readonly byteLength: number;
  read(from: number, length: number): Uint8Array;
}

/** Part of a storage, as a persistent id names it. */
export class StorageView {
  constructor(
    readonly storage: Storage,
    readonly dtype: DType | undefined,
    readonly byteOffset: number,
    readonly byteLength: number,
  ) {}
}

/** A strided tensor over a storage; checked to lie inside it. Strides in elements. */
export class PickledTensor {
  constructor(
    readonly storage: Storage,
    readonly dtype: DType,
    readonly byteOffset: number,
    readonly shape: readonly number[],
    readonly strides: readonly number[],
  ) {}
}

/** A value's kind for messages. Never walks into containers, which may hold themselves. */
export function kindOf(value: PickleValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'None';
  if (typeof value === 'object') {
    if (value instanceof Global || value instanceof Inert) return value.path;
    if (value instanceof Uint8Array) return 'bytes';
    if (value instanceof PickledTensor) return 'a tensor';
    if (value instanceof StorageView) return 'a storage';
    return value instanceof Dict ? 'a dict' : value instanceof List ? 'a list' : 'a tuple';
  }
  return typeof value === 'string' ? 'a string' : typeof value === 'boolean' ? 'a bool' : 'a number';
}
