import type { DebugProtocol } from '@vscode/debugprotocol';
import type { ProbeResult, ProbeSpec } from '../../../runtime/engine/probes';
import type { Extras, Requested } from './requested';

/** A breakpoint in the gutter of a model's source. */
export class LineBreakpoint implements Requested {
  readonly label: string;

  /** `source` is e.g. `runtime/models/mixer.ts`; absent when the file is not one of the model's. */
  constructor(
    private readonly source: string | undefined,
    private readonly line: number,
    private readonly extras: Extras,
  ) {
    this.label = `${source ?? 'line'}:${line}`;
  }

  probe(id: number): ProbeSpec | undefined {
    if (!this.source) return undefined;
    return { id, target: { kind: 'line', source: this.source, line: this.line }, ...this.extras };
  }

  answer(id: number, result: ProbeResult | undefined): DebugProtocol.Breakpoint {
    const message = this.source
      ? result?.message
      : 'This file is not a source of the model that runs; open it from the call stack.';
    return { id, verified: result?.verified ?? false, message, line: result?.line ?? this.line };
  }
}
