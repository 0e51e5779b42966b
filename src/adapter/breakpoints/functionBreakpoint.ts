import type { DebugProtocol } from '@vscode/debugprotocol';
import type { ProbeResult, ProbeSpec } from '../../../runtime/engine/probes';
import {
  BreakpointSpecError,
  type BreakpointTarget,
  parseBreakpointName,
  splitBreakpointText,
} from '../../protocol/breakpointSpec';
import type { Extras, Requested } from './requested';

/** `selective_scan`, `layers.3.mixer:exit`, ... from the Breakpoints view or the launch configuration. */
export class FunctionBreakpoint implements Requested {
  private readonly target?: BreakpointTarget;
  private readonly problem?: string;
  private readonly extras: Extras;

  constructor(
    readonly label: string,
    extras: Extras,
  ) {
    const { name, logMessage } = splitBreakpointText(label);
    this.extras = { ...extras, logMessage: extras.logMessage ?? logMessage };
    try {
      this.target = parseBreakpointName(name);
    } catch (error) {
      if (!(error instanceof BreakpointSpecError)) throw error;
      this.problem = error.message;
    }
  }

  probe(id: number): ProbeSpec | undefined {
    return this.target && { id, target: this.target, ...this.extras };
  }

  answer(id: number, result: ProbeResult | undefined): DebugProtocol.Breakpoint {
    return { id, verified: result?.verified ?? false, message: this.problem ?? result?.message };
  }
}
