import type { Pass } from '../../src/protocol/site';
import type { Op } from '../program/op';
import type { Program } from '../program/program';
import type { SourcePlace } from '../program/source';
import type { Value } from '../program/value';
import { Execution, type Keep } from './execution';
import { findLocals, type Local } from './locals';
import { isScan, OpenScan, RECURRENCES } from './openScan';
import { type Position, Timeline } from './timeline';

/** Everything that is known at one moment of a run: the program, its tensors, and where it stands. */
export class RunState {
  readonly timeline: Timeline;
  readonly execution: Execution;
  readonly locals: readonly Local[];
  position: Position;
  /** For each gradient, by the id of its value: the event that completes it. */
  private readonly completed: ReadonlyMap<number, number>;
  /** The scan that is gone through step by step, while the position is inside one. */
  scan?: OpenScan;
  /** The parameter or input whose gradient a stop is about. */
  focus?: string;
  /** The line of each pass's recurrence, to show while a scan is open. */
  private readonly recurrencePlaces: Record<Pass, SourcePlace | undefined>;

  constructor(
    readonly program: Program,
    readSource: (source: string) => string | undefined,
    keep?: Keep,
  ) {
    this.timeline = new Timeline(program);
    this.execution = new Execution(program, keep);
    this.locals = findLocals(program, readSource);
    this.completed = completions(program);
    this.recurrencePlaces = {
      forward: placeOf(RECURRENCES.forward, readSource),
      backward: placeOf(RECURRENCES.backward, readSource),
    };
    this.position = { event: 0, phase: 'before' };
  }

  /** The gradient of a parameter or an input, once the backward pass has computed it. */
  gradientOf(name: string): Value | undefined {
    const value = this.program.gradients.get(name);
    const known = value && this.completed.get(value.id);
    const { event, phase } = this.position;
    return known !== undefined && (known < event || (known === event && phase === 'after'))
      ? value
      : undefined;
  }

  /** The gradients that the op of an event completes, by the name of the parameter or input. */
  gradientsAt(event: number): [name: string, value: Value][] {
    return [...this.program.gradients].filter(([, value]) => this.completed.get(value.id) === event);
  }

  /** Leaves a stop: its tensors may be dropped, except those of an open scan. */
  private leave(): void {
    this.focus = undefined;
    if (!this.scan) this.execution.letGo();
  }

  /** One moment forward. With `openScan` a scan is gone through step by step, else in one go. */
  advance(openScan: boolean): void {
    this.leave();
    const { event, phase } = this.position;
    const op = this.timeline.opAt(this.position);
    if (phase === 'after' || !op) this.position = { event: event + 1, phase: 'before' };
    else if (phase === 'before' && openScan && isScan(op)) this.open(op, 'first');
    else if (phase === 'inside' && openScan && this.scan!.next !== undefined) this.moveTo(this.scan!.next);
    else {
      this.execution.run(op);
      this.position = { event, phase: 'after' };
      this.scan = undefined;
    }
  }

  /** One moment back; `openScan` as in `advance`. */
  retreat(openScan: boolean): void {
    this.leave();
    const { event, phase } = this.position;
    const op = this.timeline.opAt(this.position);
    if (phase === 'before') {
      const previous = this.program.events[event - 1];
      this.position = { event: event - 1, phase: previous?.kind === 'op' ? 'after' : 'before' };
    } else if (phase === 'after' && openScan && isScan(op)) this.open(op, 'last');
    else if (phase === 'inside' && openScan && this.scan!.previous !== undefined)
      this.moveTo(this.scan!.previous);
    else {
      this.position = { event, phase: 'before' };
      this.scan = undefined;
    }
  }

  private open(op: Op, end: 'first' | 'last'): void {
    this.scan = new OpenScan(op, this.execution);
    this.moveTo(this.scan[end]);
  }

  /** Moves an open scan to a time step. Throws a `RangeError` when there is none or it has no such step. */
  seek(t: number): void {
    if (!this.scan) throw new RangeError('No scan is open; stop at selective_scan and step into it.');
    const last = Math.max(this.scan.first, this.scan.last);
    if (!Number.isInteger(t) || t < 0 || t > last)
      throw new RangeError(`The scan has the time steps 0 to ${last}.`);
    this.moveTo(t);
  }

  private moveTo(t: number): void {
    this.scan!.seek(t);
    this.position = { event: this.position.event, phase: 'inside', t };
  }

  /** The line of the recurrence, while a scan is open. */
  get recurrencePlace(): SourcePlace | undefined {
    return this.scan && this.recurrencePlaces[this.scan.pass];
  }
}

/** The last line of a source that holds a text; the mark itself stands before it. */
function placeOf(
  mark: { source: string; text: string },
  read: (source: string) => string | undefined,
): SourcePlace | undefined {
  const lines = read(mark.source)?.split('\n') ?? [];
  const line = lines.findLastIndex((l) => l.includes(mark.text));
  if (line < 0) return undefined;
  return { source: mark.source, line: line + 1, column: 1 + lines[line].search(/\S/) };
}

/** Which event writes each gradient's storage last. */
function completions(program: Program): Map<number, number> {
  const written = new Map<number, number>();
  if (program.gradients.size > 0) {
    program.events.forEach((e, event) => {
      if (e.kind === 'op') for (const value of Object.values(e.op.outputs)) written.set(value.storage, event);
    });
  }
  return new Map([...program.gradients.values()].map((value) => [value.id, written.get(value.storage)!]));
}
