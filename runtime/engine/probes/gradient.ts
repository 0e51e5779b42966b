import { BreakpointSpecError, matchGlob } from '../../../src/protocol/breakpointSpec';
import { closest } from '../../../src/protocol/spelling';
import type { Program } from '../../program/program';
import { modulePaths } from './module';
import { type Location, type Locator, noBackwardPass } from './probe';

/** Stops when the backward pass has completed the gradient of a parameter or an input. */
export class GradientLocator implements Locator {
  constructor(private readonly glob: string) {}

  locate(program: Program): Location[] {
    if (program.gradients.size === 0) throw noBackwardPass();
    const matches = matchGlob(this.glob);
    const found = [...program.gradients].filter(([name]) => matches(name)).map(([, value]) => value.storage);
    if (found.length === 0) throw new BreakpointSpecError(this.missing(program));
    return [...new Set(found)].map((storage) => ({ event: lastWriter(program, storage), phase: 'exit' }));
  }

  private missing(program: Program): string {
    if (modulePaths(program).some(matchGlob(this.glob)))
      return `"${this.glob}" is a module; write grad:${this.glob}:entry or :exit for it in the backward pass, or the name of a parameter.`;
    const names = [...program.gradients.keys()];
    const hint = closest(this.glob, names);
    return `No parameter with a gradient matches "${this.glob}"${hint ? `; did you mean "${hint}"?` : '.'}`;
  }

  names(): string[] {
    return ['grad', 'parameter'];
  }
}

function lastWriter(program: Program, storage: number): number {
  return program.events.findLastIndex(
    (e) => e.kind === 'op' && Object.values(e.op.outputs).some((v) => v.storage === storage),
  );
}
