import { numel } from '../tensor/tensor';
import type { Op } from './op';
import type { Program } from './program';
import type { Value } from './value';

/**
 * Which ops a gradient passes on its way from a loss to parameters and inputs. Works on storages, so views need
 * no rules: a gradient reaches a storage through any view of it.
 */
export class GradientFlow {
  /** Storages that depend on a parameter or an input. */
  private readonly dependent = new Set<number>();
  private readonly active = new Set<Op>();
  private readonly firstReads = new Map<Op, number[]>();
  private readonly uses = new Map<number, number>();
  private readonly owners = new Map<number, Value>();

  constructor(
    private readonly program: Program,
    loss: Value,
  ) {
    for (const value of program.values) {
      if (!this.owners.has(value.storage)) this.owners.set(value.storage, value);
    }
    this.findDependent();
    this.findActive(loss);
    this.findReads();
  }

  /** True when the loss depends on a parameter or an input through this op. */
  passes(op: Op): boolean {
    return this.active.has(op);
  }

  get isEmpty(): boolean {
    return this.active.size === 0;
  }

  /** The inputs of an op that have a gradient, by role. */
  inputs(op: Op): [role: string, value: Value][] {
    const constant = op.kind.backward?.constant ?? [];
    return Object.entries(op.inputs).filter(
      ([role, value]) => !constant.includes(role) && this.dependent.has(value.storage),
    );
  }

  /** Storages whose first reader is this op: going backward, their gradient is complete after it. */
  completedBy(op: Op): readonly number[] {
    return this.firstReads.get(op) ?? [];
  }

  /** The value that wrote or declared a storage; all others of that storage are views of it. */
  owner(storage: number): Value {
    return this.owners.get(storage)!;
  }

  /** True when a value is all of its storage, in whatever order. */
  coversStorage(value: Value): boolean {
    return numel(value.shape) === this.program.storageSizes[value.storage];
  }

  /** True when a value's gradient is all of its storage's gradient. */
  isWhole(value: Value): boolean {
    return this.coversStorage(value) && (this.uses.get(value.storage) ?? 0) <= 1;
  }

  private findDependent(): void {
    const { parameters, inputs, ops } = this.program;
    for (const p of parameters) if (!p.fallback) this.dependent.add(p.value.storage);
    for (const value of Object.values(inputs)) this.dependent.add(value.storage);
    for (const op of ops) {
      if (this.inputs(op).length === 0) continue;
      for (const value of Object.values(op.outputs)) this.dependent.add(value.storage);
    }
  }

  private findActive(loss: Value): void {
    const wanted = new Set([loss.storage]);
    for (const op of this.program.ops.toReversed()) {
      if (op.kind.view || !Object.values(op.outputs).some((y) => wanted.has(y.storage))) continue;
      const inputs = this.inputs(op);
      if (inputs.length === 0) continue;
      if (!op.kind.backward)
        throw new Error(`${op.kind.name} in ${op.module || 'the model'} has no gradient.`);
      this.active.add(op);
      for (const [, value] of inputs) wanted.add(value.storage);
    }
  }

  private findReads(): void {
    for (const op of this.program.ops) {
      if (!this.active.has(op)) continue;
      const first: number[] = [];
      for (const [, { storage }] of this.inputs(op)) {
        const before = this.uses.get(storage) ?? 0;
        if (before === 0) first.push(storage);
        this.uses.set(storage, before + 1);
      }
      this.firstReads.set(op, first);
    }
  }
}
