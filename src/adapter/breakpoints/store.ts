import type { DebugProtocol } from '@vscode/debugprotocol';
import type { ProbeResult, ProbeSpec } from '../../../runtime/engine/probes';
import type { Requested } from './requested';

/** A breakpoint of the client, and the probe it became, if it could. */
interface Held {
  id: number;
  requested: Requested;
}

/**
 * All breakpoints of a session by where they were set (a source, the function breakpoints, the launch
 * configuration). Setting one group replaces it and leaves the others.
 */
export class BreakpointStore {
  private readonly groups = new Map<string, Held[]>();
  private nextId = 1;

  /** `apply` sets all probes at once and says what became of each. */
  constructor(private readonly apply: (specs: ProbeSpec[]) => Promise<ProbeResult[]>) {}

  /** Replaces a group. One answer for each breakpoint, in order. */
  async set(group: string, requested: readonly Requested[]): Promise<DebugProtocol.Breakpoint[]> {
    const held = requested.map((r) => ({ id: this.nextId++, requested: r }));
    this.groups.set(group, held);
    const results = await this.applyAll();
    return held.map(({ id, requested: r }) => r.answer(id, results.get(id)));
  }

  /** Sets all groups again, e.g. after a restart. */
  async applyAll(): Promise<Map<number, ProbeResult>> {
    const specs = [...this.groups.values()].flat().flatMap(({ id, requested }) => {
      const spec = requested.probe(id);
      return spec ? [spec] : [];
    });
    const results = await this.apply(specs);
    return new Map(results.map((result) => [result.id, result]));
  }

  /** The words that a person knows a breakpoint by. */
  describe(id: number): string {
    return (
      [...this.groups.values()].flat().find((held) => held.id === id)?.requested.label ?? `breakpoint ${id}`
    );
  }
}
