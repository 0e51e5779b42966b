import type { Op } from '../program/op';
import type { Event, Program } from '../program/program';
import type { Scope } from '../program/scope';

/**
 * A moment in a run. `before`: the event has not happened yet; `after`: its op has run; `inside`: within a scan,
 * after time step t.
 */
export interface Position {
  readonly event: number;
  readonly phase: 'before' | 'inside' | 'after';
  readonly t?: number;
}

export type StepMode = 'continue' | 'next' | 'stepIn' | 'stepOut' | 'stepBack' | 'reverseContinue';

export const isReverse = (mode: StepMode): boolean => mode === 'stepBack' || mode === 'reverseContinue';

/** The order of moments in a program, and where stepping goes. */
export class Timeline {
  /** The first moment that a person can stop at: the first op or module call inside the model. */
  readonly first: Position;

  constructor(readonly program: Program) {
    this.first = {
      event: program.events.findIndex((_, i) => this.isStep({ event: i, phase: 'before' })),
      phase: 'before',
    };
  }

  eventAt(position: Position): Event | undefined {
    return this.program.events[position.event];
  }

  opAt(position: Position): Op | undefined {
    const event = this.eventAt(position);
    return event?.kind === 'op' ? event.op : undefined;
  }

  /** The innermost module whose code is being executed. Entering a module still belongs to the caller. */
  scopeAt(position: Position): Scope | undefined {
    const event = this.eventAt(position);
    if (!event) return undefined;
    return event.kind === 'enter' ? event.scope.parent : event.scope;
  }

  depth(position: Position): number {
    return this.scopeAt(position)?.depth ?? -1;
  }

  isEnd(position: Position): boolean {
    return position.event >= this.program.events.length;
  }

  /** True where stepping may stop: before an op that computes, or before a module is entered. */
  isStep(position: Position): boolean {
    const event = this.eventAt(position);
    if (!event || position.phase !== 'before') return false;
    if (event.kind === 'op') return !event.op.kind.view;
    return event.kind === 'enter' && event.scope.parent !== undefined;
  }

  /** The test for where a step that starts at `from` ends. */
  target(from: Position, mode: StepMode): (position: Position) => boolean {
    const depth = this.depth(from);
    // Inside a scan a step is a time step; a scan opened only because a breakpoint watches it is stepped over.
    const inside = (p: Position) => p.phase === 'inside' && p.event === from.event;
    switch (mode) {
      case 'next':
      case 'stepBack':
        return (p) => (from.phase === 'inside' && inside(p)) || (this.isStep(p) && this.depth(p) <= depth);
      case 'stepIn':
        return (p) => inside(p) || this.isStep(p);
      case 'stepOut':
        return (p) =>
          this.isStep(p) && (from.phase === 'inside' ? this.depth(p) <= depth : this.depth(p) < depth);
      default:
        return () => false;
    }
  }
}
