import { native } from '../kernels/native';
import type { Named, Op } from '../program/op';
import type { Program } from '../program/program';
import type { Value } from '../program/value';
import { Tensor } from '../tensor/tensor';
import { findAnchors, smallestLimit } from './anchors';

/** What a run keeps of its results. */
export interface Keep {
  /** Bytes of results to keep, so that going back is quick. */
  limit?: number;
  /** Keep no result that the rest of the program does not read. */
  lean?: boolean;
}

/**
 * The tensors of one run of a program. Every op writes storage of its own, so going back in time needs no undo:
 * what was computed stays as it was. Above `limit` bytes of results those that were not used for longest are
 * dropped, and computed again, bit by bit the same, when somebody looks at them. The limit is raised to where
 * that takes at most the work of one block. A lean execution drops each result after the last op that reads it.
 */
export class Execution {
  private readonly storages: (Float32Array | undefined)[];
  /** The op that computes each storage; none for parameters and inputs. */
  private readonly producers = new Map<number, Op>();
  private readonly computed = new Set<number>();
  /** Results that are in memory and may be dropped, those used last at the end. */
  private readonly kept = new Set<number>();
  private readonly anchors: ReadonlySet<number>;
  /** Storages of ops that are running, which may need others computed again first. */
  private readonly inUse = new Map<number, number>();
  /** Storages that a caller looks at. */
  private readonly looked = new Set<number>();
  /** Bytes of all results in memory, and the most that there were. */
  private bytes = 0;
  peakBytes = 0;

  /** Bytes of results to keep. */
  readonly limit: number;
  /** For a lean execution: the last op that reads a result, if any does. */
  private readonly lastReader?: ReadonlyMap<number, Op>;

  constructor(
    readonly program: Program,
    { limit = Number.POSITIVE_INFINITY, lean = false }: Keep = {},
  ) {
    this.storages = new Array(program.storageSizes.length);
    for (const op of program.ops) {
      if (op.kind.run) for (const { storage } of Object.values(op.outputs)) this.producers.set(storage, op);
    }
    this.anchors = findAnchors(program);
    this.limit = Math.max(limit, smallestLimit(program, this.anchors));
    if (lean) this.lastReader = lastReaders(program);
  }

  /** Gives a parameter or an input its data. Throws a `RangeError` when the number of elements differs. */
  fill(value: Value, data: Float32Array): void {
    const expected = this.program.storageSizes[value.storage];
    if (data.length !== expected)
      throw new RangeError(`${value.name} takes ${expected} elements, not ${data.length}.`);
    const room = this.roomFor(value);
    if (data !== room) room.set(data);
    this.computed.add(value.storage);
  }

  /** Where the data of a parameter or an input goes; who writes it there hands it to `fill` afterwards. */
  roomFor(value: Value): Float32Array {
    const size = this.program.storageSizes[value.storage];
    this.storages[value.storage] ??= native()?.memory.allocate(size) ?? new Float32Array(size);
    return this.storages[value.storage]!;
  }

  /** True once the value's storage has been written. */
  has(value: Value): boolean {
    return this.computed.has(value.storage);
  }

  /** A value that has been computed. It stays in memory until `letGo`. */
  tensor(value: Value): Tensor {
    if (!this.has(value)) throw new Error(`${value.name} is not computed yet.`);
    this.looked.add(value.storage);
    return Tensor.of(value.layout, this.storage(value.storage), value.axes);
  }

  /** Calls f with a value that need not stay in memory afterwards. */
  glance<T>(value: Value, f: (tensor: Tensor) => T): T {
    const looked = this.looked.has(value.storage);
    try {
      return f(this.tensor(value));
    } finally {
      if (!looked) this.looked.delete(value.storage);
      this.trim();
    }
  }

  tensors(values: Named<Value>): Record<string, Tensor> {
    return mapValues(values, (value) => this.tensor(value));
  }

  /** Nobody looks at the tensors given so far any more. */
  letGo(): void {
    this.looked.clear();
    this.trim();
  }

  /** Runs one op. Running it again writes the same bits. */
  run(op: Op): void {
    if (op.kind.run) this.compute(op);
  }

  /** Runs a whole program without stopping: its own, or the forward pass that it was derived from. */
  runAll(program: Program = this.program): void {
    for (const op of program.ops) this.run(op);
  }

  private compute(op: Op): void {
    const used = [...Object.values(op.inputs), ...Object.values(op.outputs)].map((value) => value.storage);
    for (const storage of used) this.inUse.set(storage, 1 + (this.inUse.get(storage) ?? 0));
    const inputs = mapValues(op.inputs, (value) =>
      Tensor.of(value.layout, this.storage(value.storage), value.axes),
    );
    const outputs = mapValues(op.outputs, (value) =>
      Tensor.of(value.layout, this.room(value.storage), value.axes),
    );
    op.kind.run!(inputs, outputs, op.attributes);
    for (const { storage } of Object.values(op.outputs)) this.computed.add(storage);
    for (const storage of used) {
      const users = this.inUse.get(storage)! - 1;
      if (users > 0) this.inUse.set(storage, users);
      else this.inUse.delete(storage);
    }
    if (this.lastReader) for (const storage of used) this.dropIfRead(storage, op);
    this.trim();
  }

  /** Drops a result that this op was the last to read. */
  private dropIfRead(storage: number, op: Op): void {
    if (this.lastReader!.get(storage) !== op || !this.storages[storage] || !this.producers.has(storage))
      return;
    if (this.anchors.has(storage) || this.inUse.has(storage) || this.looked.has(storage)) return;
    this.kept.delete(storage);
    this.drop(storage);
  }

  /** The data of a storage, computed again if it was dropped. */
  private storage(storage: number): Float32Array {
    if (!this.storages[storage]) {
      const producer = this.producers.get(storage);
      if (!producer) throw new Error('A parameter or an input of the run has no data.');
      this.compute(producer);
    }
    this.touch(storage);
    return this.storages[storage]!;
  }

  /** Room for the result of an op. */
  private room(storage: number): Float32Array {
    const size = this.program.storageSizes[storage];
    if (!this.storages[storage]) {
      this.storages[storage] = native()?.memory.allocate(size) ?? new Float32Array(size);
      this.bytes += 4 * size;
      this.peakBytes = Math.max(this.peakBytes, this.bytes);
    }
    this.touch(storage);
    return this.storages[storage]!;
  }

  private touch(storage: number): void {
    if (this.limit === Number.POSITIVE_INFINITY || !this.producers.has(storage)) return;
    if (this.anchors.has(storage)) return;
    this.kept.delete(storage);
    this.kept.add(storage);
  }

  private trim(): void {
    if (this.bytes <= this.limit) return;
    for (const storage of this.kept) {
      if (this.inUse.has(storage) || this.looked.has(storage)) continue;
      this.kept.delete(storage);
      this.drop(storage);
      if (this.bytes <= this.limit) return;
    }
  }

  private drop(storage: number): void {
    const data = this.storages[storage]!;
    if (native()?.memory.holds(data)) native()!.memory.release(data);
    this.storages[storage] = undefined;
    this.bytes -= 4 * data.length;
  }

  /** Gives all memory back; the execution is of no use afterwards. */
  dispose(): void {
    for (const [storage, data] of this.storages.entries()) if (data) this.drop(storage);
  }
}

/** The last op that reads each storage; what the program gives back is read by nobody in it. */
function lastReaders(program: Program): Map<number, Op> {
  const readers = new Map<number, Op>();
  for (const op of program.ops) {
    if (op.kind.run) for (const { storage } of Object.values(op.inputs)) readers.set(storage, op);
  }
  for (const { storage } of [...Object.values(program.outputs), ...program.gradients.values()])
    readers.delete(storage);
  return readers;
}

function mapValues<T>(values: Named<Value>, f: (value: Value) => T): Record<string, T> {
  const mapped: Record<string, T> = {};
  for (const name in values) mapped[name] = f(values[name]);
  return mapped;
}
