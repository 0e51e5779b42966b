import type { DebugProtocol } from '@vscode/debugprotocol';
import type { ProbeResult, ProbeSpec } from '../../../runtime/engine/probes';

/** A breakpoint as the client asked for it: one class per kind. */
export interface Requested {
  readonly label: string;
  /** The probe that does it; none when the request cannot be understood. */
  probe(id: number): ProbeSpec | undefined;
  /** What the client is told; `result` is the engine's word on the probe. */
  answer(id: number, result: ProbeResult | undefined): DebugProtocol.Breakpoint;
}

/** What all kinds may have. */
export interface Extras {
  condition?: string;
  hitCondition?: string;
  logMessage?: string;
}
