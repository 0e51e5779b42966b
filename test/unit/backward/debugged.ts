import { readFileSync } from 'node:fs';
import { Debugger, type Stop } from '../../../runtime/engine/debugger';
import type { FilterName } from '../../../runtime/engine/finding';
import { type LoadRequest, load } from '../../../runtime/engine/load';
import type { ProbeResult } from '../../../runtime/engine/probes';
import type { RunState } from '../../../runtime/engine/state';
import type { StepMode } from '../../../runtime/engine/timeline';
import { parseBreakpointName } from '../../../src/protocol/breakpointSpec';
import { fixture } from '../fixtures';
import { manifest } from '../goldenModels';

/** A golden Vim with its input and labels, as a request; `checkpoint` may be a changed copy. */
export function goldenRequest(name: string, checkpoint?: string): Omit<LoadRequest, 'seed'> {
  return {
    model: manifest[name].config,
    checkpoint: checkpoint ?? fixture(`golden/${name}.weights.safetensors`),
    input: fixture(`golden/${name}.golden.safetensors`),
    backward: true,
  };
}

/** The engine under test without a debug adapter. */
export class Debugged {
  readonly messages: string[] = [];
  private readonly debugger: Debugger;

  private constructor(readonly state: RunState) {
    this.debugger = new Debugger(state, {
      output: (text) => this.messages.push(text),
      probeFailed: (_, message) => this.messages.push(message),
      breathe: () => false,
    });
  }

  static async load(request: Omit<LoadRequest, 'seed'>): Promise<Debugged> {
    const root = new URL('../../../', import.meta.url);
    const read = (source: string) => readFileSync(new URL(source, root), 'utf8');
    return new Debugged((await load({ seed: 0, ...request }, read, async () => {})).state);
  }

  /** Sets breakpoints as `NAME if CONDITION`. */
  set(...texts: string[]): ProbeResult[] {
    return this.debugger.setProbes(
      texts.map((text, id) => {
        const [name, condition] = text.split(' if ');
        return { id, target: parseBreakpointName(name), condition };
      }),
    );
  }

  filter(...filters: FilterName[]): void {
    this.debugger.setFilters(filters.map((filter) => ({ filter })));
  }

  go(mode: StepMode = 'continue'): Promise<Stop | undefined> {
    return this.debugger.resume(mode);
  }
}
