import type { ScanTensors } from '../kernels/selectiveScan';
import { RECURRENCE, Recurrence } from '../models/recurrence';
import type { Program } from '../program/program';
import type { SourcePlace } from '../program/source';
import type { Value } from '../program/value';
import type { Tensor } from '../tensor/tensor';
import { Execution } from './execution';
import { findLocals, type Local } from './locals';
import { type Position, Timeline } from './timeline';

/** Everything that is known at one moment of a run: the program, its tensors, and where it stands. */
export class RunState {
  readonly timeline: Timeline;
  readonly execution: Execution;
  readonly locals: readonly Local[];
  position: Position;
  /** For each gradient, by the id of its value: the event that completes it. */
  private readonly completed: ReadonlyMap<number, number>;
  /** The line of the recurrence, to show while a scan is open. */
  readonly recurrencePlace?: SourcePlace;
  /** The opened scan, while the position is inside one. */
  recurrence?: Recurrence;

  constructor(
    readonly program: Program,
    readSource: (source: string) => string | undefined,
  ) {
    this.timeline = new Timeline(program);
    this.execution = new Execution(program);
    this.locals = findLocals(program, readSource);
    this.completed = completions(program);
    this.recurrencePlace = placeOf(RECURRENCE, readSource);
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

  /** One moment forward. With `openScan` a scan is gone through step by step, else in one go. */
  advance(openScan: boolean): void {
    const { event, phase } = this.position;
    const op = this.timeline.opAt(this.position);
    if (phase === 'after' || !op) this.position = { event: event + 1, phase: 'before' };
    else if (phase === 'before' && openScan && op.kind.name === 'selective_scan') this.enterScan(0);
    else if (phase === 'inside' && openScan && this.recurrence!.t + 1 < this.recurrence!.length)
      this.moveTo(this.recurrence!.t + 1);
    else {
      this.execution.run(op);
      this.position = { event, phase: 'after' };
      this.recurrence = undefined;
    }
  }

  /** One moment back; `openScan` as in `advance`. */
  retreat(openScan: boolean): void {
    const { event, phase } = this.position;
    const op = this.timeline.opAt(this.position);
    if (phase === 'before') {
      const previous = this.program.events[event - 1];
      this.position = { event: event - 1, phase: previous?.kind === 'op' ? 'after' : 'before' };
    } else if (phase === 'after' && openScan && op?.kind.name === 'selective_scan')
      this.enterScan(op.inputs['u'].shape[2] - 1);
    else if (phase === 'inside' && openScan && this.recurrence!.t > 0) this.moveTo(this.recurrence!.t - 1);
    else {
      this.position = { event, phase: 'before' };
      this.recurrence = undefined;
    }
  }

  private enterScan(t: number): void {
    const op = this.timeline.opAt(this.position)!;
    this.recurrence = new Recurrence(this.execution.tensors(op.inputs) as unknown as ScanTensors);
    this.moveTo(t);
  }

  private moveTo(t: number): void {
    this.recurrence!.seek(t);
    this.position = { event: this.position.event, phase: 'inside', t };
  }

  /** The largest |y_t - y| between the recurrence at this step and the scan's kernel, and the largest |y_t|. */
  stepDifference(): { difference: number; scale: number } {
    const op = this.timeline.opAt(this.position)!;
    if (!this.execution.has(op.outputs['y'])) this.execution.run(op);
    const y: Tensor = this.execution.tensor(op.outputs['y']);
    const { t, y: own } = this.recurrence!;
    let [difference, scale] = [0, 0];
    for (let b = 0; b < own.shape[0]; b++) {
      for (let d = 0; d < own.shape[1]; d++) {
        difference = Math.max(difference, Math.abs(own.at(b, d) - y.at(b, d, t)));
        scale = Math.max(scale, Math.abs(own.at(b, d)));
      }
    }
    return { difference, scale };
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
