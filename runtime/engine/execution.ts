import type { Named, Op } from '../program/op';
import type { Program } from '../program/program';
import type { Value } from '../program/value';
import { Tensor } from '../tensor/tensor';

/**
 * The tensors of one run of a program. Every op writes storage of its own, so going back in time needs no undo:
 * what was computed stays as it was.
 */
export class Execution {
  private readonly storages: (Float32Array | undefined)[];

  constructor(readonly program: Program) {
    this.storages = new Array(program.storageSizes.length);
  }

  /** Gives a parameter or an input its data. Throws a `RangeError` when the number of elements differs. */
  fill(value: Value, data: Float32Array): void {
    const expected = this.program.storageSizes[value.storage];
    if (data.length !== expected)
      throw new RangeError(`${value.name} takes ${expected} elements, not ${data.length}.`);
    this.storages[value.storage] = data;
  }

  /** True once the value's storage has been written. */
  has(value: Value): boolean {
    return this.storages[value.storage] !== undefined;
  }

  tensor(value: Value): Tensor {
    const data = this.storages[value.storage];
    if (!data) throw new Error(`${value.name} is not computed yet.`);
    return Tensor.of(value.layout, data, value.axes);
  }

  tensors(values: Named<Value>): Record<string, Tensor> {
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, this.tensor(value)]));
  }

  /** Runs one op. Running it again writes the same bits. */
  run(op: Op): void {
    if (!op.kind.run) return;
    for (const value of Object.values(op.outputs)) {
      this.storages[value.storage] ??= new Float32Array(this.program.storageSizes[value.storage]);
    }
    op.kind.run(this.tensors(op.inputs), this.tensors(op.outputs), op.attributes);
  }

  /** Runs a whole program without stopping: its own, or the forward pass that it was derived from. */
  runAll(program: Program = this.program): void {
    for (const op of program.ops) this.run(op);
  }
}
