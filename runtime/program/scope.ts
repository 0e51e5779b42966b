import type { Direction } from '../../src/protocol/site';
import type { Named } from './op';
import type { Trace } from './source';
import type { Value } from './value';

/** One call of a module while the program is built: a level of the call stack that a person sees. */
export interface Scope {
  /** Unique in the program, in order of entry; two calls of one module differ in it. */
  readonly serial: number;
  /** Dotted path as in the checkpoint; empty for the model itself. */
  readonly path: string;
  /** Class of the module, e.g. `Block`. */
  readonly kind: string;
  readonly parent?: Scope;
  readonly depth: number;
  /** Direction of the sequence in here, when the model says so. */
  readonly direction?: Direction;
  readonly inputs: Named<Value>;
  outputs: Named<Value>;
  /** Call sites from the model down to the line that entered this scope. */
  readonly trace: Trace;
}

/** The scope itself and its parents, innermost first. */
export function scopeChain(scope: Scope): Scope[] {
  const chain: Scope[] = [];
  for (let s: Scope | undefined = scope; s; s = s.parent) chain.push(s);
  return chain;
}
