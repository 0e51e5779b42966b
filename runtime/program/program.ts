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
export type Event =
  | { readonly kind: 'enter'; readonly scope: Scope }
  | { readonly kind: 'op'; readonly op: Op; readonly scope: Scope }
  | { readonly kind: 'exit'; readonly scope: Scope };

/** A model built once: a list of ops in order, with every shape known before anything runs. */
export class Program {
  constructor(
    readonly name: string,
    readonly events: readonly Event[],
    readonly values: readonly Value[],
    readonly parameters: readonly Parameter[],
    readonly inputs: Named<Value>,
    readonly outputs: Named<Value>,
    readonly constants: ReadonlyMap<number, Float32Array>,
    /** Elements of each storage. */
    readonly storageSizes: readonly number[],
  ) {}

  get ops(): Op[] {
    return this.events.flatMap((event) => (event.kind === 'op' ? [event.op] : []));
  }

  get scopes(): Scope[] {
    return this.events.flatMap((event) => (event.kind === 'enter' ? [event.scope] : []));
  }

  parameter(name: string): Parameter | undefined {
    return this.parameters.find((p) => p.name === name);
  }

  /** Elements over all parameters, without buffers. */
  get parameterCount(): number {
    const learned = this.parameters.filter((p) => !p.fallback);
    return learned.reduce((sum, p) => sum + p.value.shape.reduce((n, size) => n * size, 1), 0);
  }
}
