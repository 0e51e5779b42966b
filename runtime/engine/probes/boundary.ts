import { type Boundary, BreakpointSpecError, type Phase } from '../../../src/protocol/breakpointSpec';
import type { Program } from '../../program/program';
import type { Location, Locator } from './probe';

const STEP_NAMES = ['h', 'u_t', 'delta_t', 'decay', 'kept', 'written', 'B_t', 'C_t', 'z_t', 'y_t'];

/** Stops at the entry, the exit, or every time step of all calls of a boundary. */
export class BoundaryLocator implements Locator {
  constructor(
    private readonly boundary: Boundary,
    private readonly phase: Phase,
  ) {}

  locate(program: Program): Location[] {
    const found = program.events.flatMap((e, event) =>
      e.kind === 'op' && e.op.kind.name === this.boundary ? [{ event, phase: this.phase }] : [],
    );
    if (found.length === 0) throw new BreakpointSpecError(`This model has no ${this.boundary}.`);
    return found;
  }

  names(program: Program): string[] {
    const op = program.ops.find((o) => o.kind.name === this.boundary)!;
    const names = Object.keys(op.inputs);
    if (this.phase === 'exit') names.push(...Object.keys(op.outputs));
    if (this.phase === 'step') names.push(...STEP_NAMES);
    return names;
  }
}
