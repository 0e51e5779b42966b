import type { Op } from '../program/op';
import type { Program } from '../program/program';
import type { Scope } from '../program/scope';
import { bodyPlace, type SourcePlace, type Trace } from '../program/source';
import type { Value } from '../program/value';
import { type Assignment, parseAssignments } from './assignments';

/** A variable of a model's source that holds a tensor. */
export interface Local {
  readonly name: string;
  readonly value: Value;
  readonly scope: Scope;
  /** The call within the module's functions that owns the variable; '' for the module's own body. */
  readonly frame: string;
  /** Index of the event after which it is known. */
  readonly event: number;
}

/**
 * Finds which tensor each variable of the model's source holds, by looking at which op its statement built last.
 * `read` gives the text of a source such as `runtime/models/vim.ts`; without a text there are no locals.
 */
export function findLocals(program: Program, read: (source: string) => string | undefined): Local[] {
  const statements = new Statements(read);
  const units = new Map<string, Unit[]>();
  const owners = new Map<string, { assignment: Assignment; scope: Scope; frame: string }>();
  program.events.forEach((event, index) => {
    if (event.kind === 'exit' || event.pass === 'backward') return;
    const unit =
      event.kind === 'op' ? { event: index, outputs: event.op.outputs } : scopeUnit(program, event.scope);
    const scope = event.kind === 'op' ? event.scope : event.scope.parent;
    if (!scope) return;
    const trace = event.kind === 'op' ? event.op.trace : event.scope.trace;
    for (const { place, frame } of framesOf(trace, scope.depth)) {
      const assignment = statements.at(place);
      if (!assignment) continue;
      const key = `${scope.serial}|${frame}|${place.source}:${assignment.start}`;
      owners.set(key, { assignment, scope, frame });
      units.set(key, [...(units.get(key) ?? []), unit]);
    }
  });
  return [...owners].flatMap(([key, { assignment, scope, frame }]) =>
    name(assignment, units.get(key)!).map((local) => ({ ...local, scope, frame })),
  );
}

/** The variables that are in scope for an op or for a module's own body, innermost function first. */
export function localsAt(
  locals: readonly Local[],
  scope: Scope,
  trace: Trace,
  before: number,
): Map<string, Local> {
  const frames = new Set(framesOf(trace, scope.depth).map(({ frame }) => frame));
  const visible = locals.filter((l) => l.scope === scope && l.event < before && frames.has(l.frame));
  visible.sort((a, b) => b.frame.length - a.frame.length || b.event - a.event);
  const byName = new Map<string, Local>();
  for (const local of visible) if (!byName.has(local.name)) byName.set(local.name, local);
  return byName;
}

interface Unit {
  event: number;
  outputs: Op['outputs'];
}

function scopeUnit(program: Program, scope: Scope): Unit {
  const exit = program.events.findIndex((e) => e.kind === 'exit' && e.scope === scope);
  return { event: exit, outputs: scope.outputs };
}

/** Each function of a module level that is on the stack, outermost first, with where it stands. */
function framesOf(trace: Trace, level: number): { place: SourcePlace; frame: string }[] {
  const body = bodyPlace(trace, level);
  const outermostFirst = [...(trace[level] ?? [])].reverse();
  let frame = '';
  // What stands before the module's own body is the line that entered it.
  return outermostFirst.slice(outermostFirst.indexOf(body!)).map((place) => {
    const entry = { place, frame };
    frame += `/${place.source}:${place.line}:${place.column}`;
    return entry;
  });
}

function name(
  assignment: Assignment,
  units: readonly Unit[],
): { name: string; value: Value; event: number }[] {
  const last = units[units.length - 1];
  if (assignment.kind === 'object') {
    return assignment.names.flatMap((n) =>
      last.outputs[n] ? [{ name: n, value: last.outputs[n], event: last.event }] : [],
    );
  }
  const parts = assignment.kind === 'array' ? units.slice(-assignment.names.length) : [last];
  return assignment.names.flatMap((n, i) => {
    const outputs = Object.values(parts[i]?.outputs ?? {});
    return outputs.length === 1 ? [{ name: n, value: outputs[0], event: parts[i].event }] : [];
  });
}

/** The assignments of each source, by line. */
class Statements {
  private readonly bySource = new Map<string, Assignment[]>();

  constructor(private readonly read: (source: string) => string | undefined) {}

  at(place: SourcePlace): Assignment | undefined {
    let found = this.bySource.get(place.source);
    if (!found) {
      found = parseAssignments(this.read(place.source) ?? '');
      this.bySource.set(place.source, found);
    }
    return found.findLast((a) => a.start <= place.line && place.line <= a.end);
  }
}
