import { type Boundary, BreakpointSpecError, type Phase } from '../../../src/protocol/breakpointSpec';
import type { Pass } from '../../../src/protocol/site';
import type { Op } from '../../program/op';
import type { Program } from '../../program/program';
import { kindOf } from '../names';
import { STEP_NAMES } from '../openScan';
import { type Location, type Locator, noBackwardPass } from './probe';

/** Stops at the entry, the exit, or every time step of all calls of a boundary in one pass or both. */
export class BoundaryLocator implements Locator {
  constructor(
    private readonly boundary: Boundary,
    private readonly phase: Phase,
    private readonly passes: readonly Pass[],
  ) {}

  locate(program: Program): Location[] {
    const found = program.events.flatMap((e, event) =>
      e.kind === 'op' && this.isOne(e.op) ? [{ event, phase: this.phase }] : [],
    );
    if (found.length > 0) return found;
    if (!this.passes.includes('forward') && program.gradients.size === 0) throw noBackwardPass();
    throw new BreakpointSpecError(`This model has no ${this.boundary}.`);
  }

  private isOne(op: Op): boolean {
    return kindOf(op) === this.boundary && this.passes.includes(op.pass ?? 'forward');
  }

  names(program: Program): string[] {
    const ops = program.ops.filter((op) => this.isOne(op));
    const names = ops.flatMap((op) => [
      ...Object.keys(op.inputs),
      ...(this.phase === 'exit' ? Object.keys(op.outputs) : []),
      ...(this.phase === 'step' ? STEP_NAMES[op.pass ?? 'forward'] : []),
    ]);
    return [...new Set(names)];
  }
}
