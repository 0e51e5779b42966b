import { BreakpointSpecError } from '../../../src/protocol/breakpointSpec';
import type { Program } from '../../program/program';
import { type Scope, scopeChain } from '../../program/scope';
import type { SourcePlace, Trace } from '../../program/source';
import type { LineTarget, Location, Locator } from './probe';

/**
 * Stops when execution comes to a line of a model's source: at the first op or module call of a statement, once
 * for each time that the line is reached.
 */
export class LineLocator implements Locator {
  line?: number;

  constructor(private readonly target: LineTarget) {}

  locate(program: Program): Location[] {
    const { source, line } = this.target;
    const byLine = arrivals(program, source);
    const lines = linesOf(program, source);
    if (lines.length === 0) throw new BreakpointSpecError(`This model runs nothing in ${source}.`);
    this.line = lines.find((l) => l >= line);
    if (this.line === undefined) {
      throw new BreakpointSpecError(`Nothing runs in ${source} after line ${lines.at(-1)}.`);
    }
    return byLine.get(this.line)!.map((event) => ({ event, phase: 'before' }));
  }

  /** Any name may occur: which variables are in scope is known at the stop. */
  names(program: Program): string[] {
    const names = new Set<string>();
    for (const op of program.ops)
      for (const name of [...Object.keys(op.inputs), ...Object.keys(op.outputs)]) names.add(name);
    return [...names];
  }
}

/** The lines of a source that run something, in order. */
export function linesOf(program: Program, source: string): number[] {
  return [...arrivals(program, source).keys()].sort((a, b) => a - b);
}

/** A function of the model on the call stack: which call of it, on which line, and which module it has called. */
interface Standing {
  readonly line: string;
  readonly callee: number | undefined;
}

/** For each line of a source, the events at which execution comes to it. */
function arrivals(program: Program, source: string): Map<number, number[]> {
  const found = new Map<number, number[]>();
  let before: Standing[] = [];
  program.events.forEach((e, event) => {
    const runs = e.kind === 'op' ? !e.op.kind.view : e.kind === 'enter' && e.scope.parent !== undefined;
    if (!runs) return;
    const trace = e.kind === 'op' ? e.op.trace : e.scope.trace;
    const now: Standing[] = [];
    for (const { standing, place } of standings(trace, scopeChain(e.scope).reverse())) {
      now.push(standing);
      if (place.source !== source || isSame(standing, before)) continue;
      const events = found.get(place.line) ?? [];
      if (events.at(-1) !== event) events.push(event);
      found.set(place.line, events);
    }
    before = now;
  });
  return found;
}

/** A line that a person already stood on; coming back from a module to the same line is not a new arrival. */
function isSame(standing: Standing, before: readonly Standing[]): boolean {
  return before.some(
    (b) => b.line === standing.line && (standing.callee === undefined || standing.callee === b.callee),
  );
}

function* standings(
  trace: Trace,
  chain: readonly Scope[],
): Generator<{ standing: Standing; place: SourcePlace }> {
  for (const [depth, level] of trace.entries()) {
    let call = `${chain[depth].serial}`;
    for (const place of [...level].reverse()) {
      yield {
        standing: { line: `${call}|${place.source}:${place.line}`, callee: chain[depth + 1]?.serial },
        place,
      };
      call += `/${place.line}:${place.column}`;
    }
  }
}
