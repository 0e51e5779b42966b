import type { Pass } from '../../src/protocol/site';
import type { Named, Op } from './op';
import type { Scope } from './scope';
import type { Value } from './value';

/** A parameter or buffer that the checkpoint fills. */
export interface Parameter {
  /** Key in the checkpoint, e.g. `layers.0.mixer.A_log`. */
  readonly name: string;
  readonly value: Value;
  /** For buffers: what they hold when the checkpoint has no such key. */
  readonly fallback?: Float32Array;
}

/** What happens in order when a program runs: modules are entered and left, ops run. */
export type Event = {
  readonly scope: Scope;
  /** Absent means `forward`. */
  readonly pass?: Pass;
} & ({ readonly kind: 'enter' } | { readonly kind: 'op'; readonly op: Op } | { readonly kind: 'exit' });

/** A model built once: a list of ops in order, with every shape known before anything runs. */
export class Program {
  readonly ops: readonly Op[];
  readonly scopes: readonly Scope[];
  private readonly byName: ReadonlyMap<string, Parameter>;

  constructor(
    readonly name: string,
    readonly events: readonly Event[],
    readonly values: readonly Value[],
    readonly parameters: readonly Parameter[],
    readonly inputs: Named<Value>,
    readonly outputs: Named<Value>,
    /** Elements of each storage. */
    readonly storageSizes: readonly number[],
    /** Gradients by the name of the parameter or input; empty unless the program has a backward pass. */
    readonly gradients: ReadonlyMap<string, Value> = new Map(),
  ) {
    this.ops = events.flatMap((event) => (event.kind === 'op' ? [event.op] : []));
    // A backward pass enters the scopes of its forward pass again.
    this.scopes = [...new Set(events.flatMap((event) => (event.kind === 'enter' ? [event.scope] : [])))];
    this.byName = new Map(parameters.map((p) => [p.name, p]));
  }

  parameter(name: string): Parameter | undefined {
    return this.byName.get(name);
  }

  /** Elements over all parameters, without buffers. */
  get parameterCount(): number {
    const learned = this.parameters.filter((p) => !p.fallback);
    return learned.reduce((sum, p) => sum + p.value.shape.reduce((n, size) => n * size, 1), 0);
  }
}
