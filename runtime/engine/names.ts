import type { TensorRole } from '../../src/protocol/requests';
import { layerOf, type Pass, type Site } from '../../src/protocol/site';
import type { Op } from '../program/op';
import type { Program } from '../program/program';
import type { Scope } from '../program/scope';
import type { Trace } from '../program/source';
import type { Value } from '../program/value';
import type { Tensor } from '../tensor/tensor';
import { localsAt } from './locals';
import type { RunState } from './state';
import type { Position } from './timeline';

/** A tensor that has a name at some moment. `id` stays the same across stops. */
export interface NamedTensor {
  readonly id: string;
  readonly name: string;
  readonly role: TensorRole;
  readonly axes: readonly string[];
  tensor(): Tensor;
}

/** The level of the call stack that names are looked up in: an op, or the body of a module. */
export interface Level {
  readonly op?: Op;
  readonly scope: Scope;
  /** Where the level stands: the trace of what it is executing. */
  readonly trace: Trace;
  readonly pass?: Pass;
}

/** The site of a level at a position, with t inside a scan. */
export function siteOf(level: Level, position: Position): Site {
  const pass = level.pass === 'backward' ? { pass: level.pass } : {};
  if (!level.op) return { module: level.scope.path, direction: level.scope.direction, ...pass };
  const { module, direction, occurrence } = level.op;
  const inside = position.phase === 'inside' ? { t: position.t } : {};
  return {
    module,
    op: kindOf(level.op),
    direction,
    ...inside,
    ...pass,
    ...(occurrence > 1 ? { occurrence } : {}),
  };
}

/** What an op does; a gradient op goes by the name of the op whose gradient it computes. */
export function kindOf(op: Op): string {
  const forward = op.forward?.kind.name;
  return op.kind.name === `${forward}_grad` ? forward! : op.kind.name;
}

/** The levels of the call stack at the current position, innermost first. */
export function levelsAt(state: RunState): Level[] {
  const event = state.timeline.eventAt(state.position);
  if (!event) return [];
  const op = event.kind === 'op' ? event.op : undefined;
  const trace =
    event.kind === 'op'
      ? event.op.trace
      : event.kind === 'enter'
        ? event.scope.trace
        : lastTrace(state.program, event.scope);
  const { pass } = event;
  const levels: Level[] = op ? [{ op, scope: op.scope, trace, pass }] : [];
  for (let s = state.timeline.scopeAt(state.position); s; s = s.parent)
    levels.push({ scope: s, trace, pass });
  return levels;
}

/** Where a finished module stands: at its last op. */
function lastTrace(program: Program, scope: Scope): Trace {
  const last = program.events.findLast((e) => e.kind === 'op' && e.scope === scope);
  return last?.kind === 'op' ? last.op.trace : [];
}

/**
 * All tensors that have a name on a level, by role; the same name may occur under several. One by one, since a
 * condition at every scan wants only the first few.
 */
export function* tensorsOf(state: RunState, level: Level): Generator<NamedTensor> {
  yield* stepTensors(state, level);
  yield* siteTensors(state, level);
  yield* localTensors(state, level);
  yield* parameters(state, level);
}

/** Inside a scan: the tensors of the current time step. */
function stepTensors(state: RunState, level: Level): NamedTensor[] {
  const { scan, position } = state;
  if (!level.op || !scan || position.phase !== 'inside') return [];
  return scan.tensors().map(([name, tensor]) => {
    return { id: `step:${name}`, name, role: 'step', axes: tensor.axes, tensor: () => tensor };
  });
}

/** What an op takes and gives, or a module; parameters are listed apart, outputs once they are computed. */
function siteTensors(state: RunState, level: Level): NamedTensor[] {
  const { op, scope } = level;
  const done = op
    ? state.position.phase === 'after'
    : state.timeline.eventAt(state.position)?.kind === 'exit';
  const scan = op !== undefined && kindOf(op) === 'selective_scan';
  const inputs = Object.entries((op ?? scope).inputs).filter(([, v]) => scan || v.origin !== 'parameter');
  const outputs = done ? Object.entries((op ?? scope).outputs) : [];
  const gradient = op && state.focus !== undefined ? state.gradientOf(state.focus) : undefined;
  return [
    ...(gradient ? [named(state, 'grad', gradient, 'output')] : []),
    ...inputs.map(([name, value]) => named(state, name, value, scan ? 'scan' : 'input')),
    ...outputs.map(([name, value]) => named(state, name, value, scan ? 'scan' : 'output')),
  ];
}

function localTensors(state: RunState, level: Level): NamedTensor[] {
  const locals = localsAt(state.locals, level.scope, level.trace, state.position.event);
  return [...locals.values()]
    .filter((l) => state.execution.has(l.value))
    .map((l) => named(state, l.name, l.value, 'local'));
}

/** The parameters of an op, or of a module without those of the modules in it. */
function parameters(state: RunState, level: Level): NamedTensor[] {
  const { op, scope } = level;
  if (op && op.module !== scope.path) {
    const values = Object.entries(op.inputs).filter(([, v]) => v.origin === 'parameter');
    return values.flatMap(([name, value]) => withGradient(state, name, value, value.name));
  }
  const prefix = scope.path ? `${scope.path}.` : '';
  const children = state.program.scopes.filter((s) => s.parent?.path === scope.path && s.path !== scope.path);
  return state.program.parameters
    .filter(({ name }) => name.startsWith(prefix) && !children.some((c) => name.startsWith(`${c.path}.`)))
    .flatMap(({ name, value }) => withGradient(state, name.slice(prefix.length), value, name));
}

/** A parameter, and behind it its gradient once the backward pass has computed it. */
function withGradient(state: RunState, name: string, value: Value, key: string): NamedTensor[] {
  const parameter = named(state, name, value, 'parameter');
  const gradient = state.gradientOf(key);
  return gradient ? [parameter, named(state, `${name}.grad`, gradient, 'parameter')] : [parameter];
}

function named(state: RunState, name: string, value: Value, role: TensorRole): NamedTensor {
  return { id: `v${value.id}`, name, role, axes: value.axes, tensor: () => state.execution.tensor(value) };
}

/** The plain words that a condition may use beside the tensors. */
export function plainNames(state: RunState, level: Level): Record<string, number | string | null> {
  const site = siteOf(level, state.position);
  return {
    layer: layerOf(site.module) ?? null,
    direction: site.direction ?? null,
    module: site.module,
    op: site.op ?? null,
    t: site.t ?? null,
    pass: level.pass ?? 'forward',
    step: 0,
    ...(level.op && state.focus !== undefined ? { parameter: state.focus } : {}),
  };
}
