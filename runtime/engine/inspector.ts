import { formatElement, formatNumber } from '../../src/protocol/numbers';
import type {
  SitesResponse,
  TensorDataArguments,
  TensorDataResponse,
  TensorEntry,
  TensorsArguments,
  TensorsResponse,
} from '../../src/protocol/requests';
import type { Summary } from '../../src/protocol/summary';
import { evaluate, formatValue, parseExpression, TensorValue } from '../expression';
import { summarize } from '../kernels/summary';
import { windowOf } from '../kernels/window';
import type { Value } from '../program/value';
import { type Tensor, view } from '../tensor/tensor';
import { type Level, levelsAt, type NamedTensor, plainNames, siteOf, tensorsOf } from './names';
import { modulePaths } from './probes';
import { scopeOf } from './scope';
import type { RunState } from './state';

/** A line of the Variables view. */
export type Entry =
  | { kind: 'tensor'; name: string; id: string; axes: readonly string[]; summary: Summary }
  | { kind: 'plain'; name: string; value: string; type: string };

export const SCOPES = ['Step', 'Scan', 'Inputs and outputs', 'Locals', 'Parameters', 'Run'] as const;
export type ScopeName = (typeof SCOPES)[number];

const ROLE_OF: Record<ScopeName, readonly NamedTensor['role'][]> = {
  Step: ['step'],
  Scan: ['scan'],
  'Inputs and outputs': ['input', 'output'],
  Locals: ['local'],
  Parameters: ['parameter'],
  Run: [],
};

/** Milliseconds for the summaries of one `mamba/tensors` reply, unless the request says otherwise. */
const DEFAULT_BUDGET = 200;
const MAX_CACHED = 20_000;
const MAX_CELLS = 2048;

/** Looks at the tensors of a run that stands still. Every answer is about the current position. */
export class Inspector {
  /** Counts stops; answers carry it so that a view can drop what belongs to an older one. */
  stop = 0;
  private readonly summaries = new Map<string, Summary>();
  private readonly temporaries = new Map<string, Tensor>();

  constructor(private readonly state: RunState) {}

  /** Forgets what belonged to the last stop. */
  moved(): void {
    this.stop++;
    this.left();
  }

  /** Forgets results of expressions: they may lie in tensors that the run drops as it goes on. */
  left(): void {
    this.temporaries.clear();
  }

  scopes(levelIndex: number): ScopeName[] {
    const roles = new Set([...tensorsOf(this.state, this.level(levelIndex))].map((t) => t.role));
    return SCOPES.filter((name) => name === 'Run' || ROLE_OF[name].some((role) => roles.has(role)));
  }

  entries(levelIndex: number, scope: ScopeName): Entry[] {
    const level = this.level(levelIndex);
    if (scope === 'Run') return this.runEntries(level);
    const tensors = [...tensorsOf(this.state, level)].filter((t) => ROLE_OF[scope].includes(t.role));
    const entries = tensors.map((t) => this.tensorEntry(t.name, t.id, t.axes));
    return scope === 'Step' ? [...this.stepEntries(), ...entries] : entries;
  }

  private stepEntries(): Entry[] {
    const { name, difference, scale } = this.state.scan!.difference();
    const apart = `${formatNumber(difference)} of ${formatNumber(scale)}`;
    return [
      plain('t', String(this.state.position.t), 'int'),
      plain('difference to the kernel', name === 'y' ? apart : `${apart} (${name})`, 'float'),
    ];
  }

  private runEntries(level: Level): Entry[] {
    const { program, position } = this.state;
    const done = program.events.slice(0, position.event).filter((e) => e.kind === 'op').length;
    const words = Object.entries(plainNames(this.state, level)).filter(
      ([, value]) => value !== null && value !== '',
    );
    return [
      plain('model', program.name, 'str'),
      ...words.map(([name, value]) => plain(name, String(value), typeof value === 'number' ? 'int' : 'str')),
      plain('ops done', `${done} of ${program.ops.length}`, 'str'),
    ];
  }

  private tensorEntry(name: string, id: string, axes: readonly string[]): Entry {
    return { kind: 'tensor', name, id, axes, summary: this.summary(id) };
  }

  /** The elements of a tensor's first axis: tensors of one axis less, or numbers. */
  children(id: string, start: number, count: number): Entry[] {
    const tensor = this.tensor(id);
    const end = Math.min(start + count, tensor.shape[0] ?? 0);
    const entries: Entry[] = [];
    for (let i = start; i < end; i++) {
      if (tensor.rank === 1) entries.push(plain(String(i), String(tensor.at(i)), tensor.dtype));
      else entries.push(this.tensorEntry(String(i), childId(id, i), tensor.axes.slice(1)));
    }
    return entries;
  }

  /** A number of a tensor without axes, or of one element of a vector. */
  scalar(id: string): number {
    const tensor = this.tensor(id);
    return tensor.at(...tensor.shape.map(() => 0));
  }

  summary(id: string): Summary {
    const known = this.summaries.get(id);
    if (known) return known;
    const value = /^v\d+$/.test(id) ? this.known(Number(id.slice(1))) : undefined;
    const summary = value
      ? this.state.execution.glance(value, (x) => summarize(x))
      : summarize(this.tensor(id));
    // Only values of the program stay the same for the whole run.
    if (id.startsWith('v') && this.summaries.size < MAX_CACHED) this.summaries.set(id, summary);
    return summary;
  }

  /** `v12`, `step:h`, `tmp:3`, with `[0,5]` behind it for a part. Throws an `Error` in one sentence. */
  tensor(id: string): Tensor {
    const match = /^(v(\d+)|step:\w+|tmp:\d+)(?:\[([\d,]+)\])?$/.exec(id);
    if (!match) throw new Error(`"${id}" is not a tensor of this run.`);
    const base = match[2] === undefined ? this.passing(match[1]) : this.value(Number(match[2]));
    const index = match[3]?.split(',').map(Number) ?? [];
    return index.reduce((t, i) => t.with(view.select(t, 0, i), t.axes.slice(1)), base);
  }

  private value(id: number): Tensor {
    return this.state.execution.tensor(this.known(id));
  }

  private known(id: number): Value {
    const value = this.state.program.values[id];
    if (!value || !this.state.execution.has(value))
      throw new Error('This tensor is not computed at this point of the run.');
    return value;
  }

  private passing(id: string): Tensor {
    const temporary = this.temporaries.get(id);
    if (temporary) return temporary;
    const [level] = levelsAt(this.state);
    const step = level && [...tensorsOf(this.state, level)].find((t) => t.id === id);
    if (!step) throw new Error('This tensor belongs to a stop that is over; look at the current one.');
    return step.tensor();
  }

  /** Evaluates an expression on a level; `exact` gives numbers in full. Throws an `ExpressionError`. */
  evaluate(text: string, levelIndex: number, exact = false): Entry {
    const level = this.level(levelIndex);
    const direct = [...tensorsOf(this.state, level)].find((t) => t.name === text.trim());
    if (direct) return this.tensorEntry(direct.name, direct.id, direct.axes);
    const parameter = this.state.program.parameter(text.trim());
    if (parameter) return this.tensorEntry(text, `v${parameter.value.id}`, parameter.value.axes);
    const value = evaluate(parseExpression(text), scopeOf(this.state, level));
    if (!(value instanceof TensorValue)) {
      const shown = exact && typeof value === 'number' ? formatElement(value) : formatValue(value);
      return plain(text, shown, typeOf(value));
    }
    const id = `tmp:${this.temporaries.size}`;
    this.temporaries.set(id, value.tensor);
    return this.tensorEntry(text, id, value.tensor.axes);
  }

  /** `mamba/tensors`. */
  tensors(args: TensorsArguments, levelIndex: number): TensorsResponse {
    const level = this.level(levelIndex);
    const site = siteOf(level, this.state.position);
    const found =
      args.scope === 'run'
        ? this.wholeRun()
        : distinct([...tensorsOf(this.state, level)]).map((t) => ({ ...t, site }));
    const deadline = performance.now() + (args.budget ?? DEFAULT_BUDGET);
    let leftOut = 0;
    const tensors = found.map((t): TensorEntry => {
      const inTime = this.summaries.has(t.id) || performance.now() < deadline;
      if (!inTime) leftOut++;
      return {
        id: t.id,
        name: t.name,
        role: t.role,
        site: t.site,
        axes: [...t.axes],
        summary: inTime ? this.summary(t.id) : null,
      };
    });
    return { site, stop: this.stop, tensors, leftOut };
  }

  /** What every op so far has computed, in order. */
  private wholeRun(): (NamedTensor & { site: TensorEntry['site'] })[] {
    const { program, position, execution } = this.state;
    return program.events.slice(0, position.event + (position.phase === 'after' ? 1 : 0)).flatMap((e) => {
      if (e.kind !== 'op' || e.op.kind.view) return [];
      const site = siteOf({ op: e.op, scope: e.scope, trace: e.op.trace }, { event: 0, phase: 'after' });
      return Object.values(e.op.outputs).map((value) => ({
        id: `v${value.id}`,
        name: e.op.name,
        role: 'output' as const,
        axes: value.axes,
        site,
        tensor: () => execution.tensor(value),
      }));
    });
  }

  /** `mamba/tensorData`. Throws an `Error` in one sentence. */
  tensorData(args: TensorDataArguments): TensorDataResponse {
    if (args.stop !== undefined && args.stop !== this.stop && !args.id.startsWith('v')) {
      throw new Error('This tensor belongs to a stop that is over; look at the current one.');
    }
    const limit = (n: number | undefined) => Math.min(n ?? MAX_CELLS, MAX_CELLS);
    const window = windowOf(this.tensor(args.id), {
      ...args,
      maxRows: limit(args.maxRows),
      maxColumns: limit(args.maxColumns),
    });
    return { ...window, id: args.id, stop: this.stop };
  }

  sites(): SitesResponse {
    const { program } = this.state;
    const boundaries = ['selective_scan', 'causal_conv1d'].filter((b) =>
      program.ops.some((op) => op.kind.name === b),
    );
    const names = Object.fromEntries(
      boundaries.map((b) => [b, Object.keys(program.ops.find((op) => op.kind.name === b)!.inputs)]),
    );
    return {
      boundaries,
      modules: modulePaths(program),
      layers: program.scopes.filter((s) => s.kind === 'Block').length,
      names,
    };
  }

  private level(index: number): Level {
    const level = levelsAt(this.state)[index];
    if (!level) throw new Error('The program does not stand still there any more.');
    return level;
  }
}

/** A tensor may have several names on a level; the views show the first. */
function distinct(tensors: readonly NamedTensor[]): NamedTensor[] {
  const seen = new Set<string>();
  return tensors.filter((t) => !seen.has(t.id) && seen.add(t.id));
}

function childId(id: string, index: number): string {
  return id.endsWith(']') ? `${id.slice(0, -1)},${index}]` : `${id}[${index}]`;
}

function plain(name: string, value: string, type: string): Entry {
  return { kind: 'plain', name, value, type };
}

function typeOf(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  return value === null ? 'None' : 'tuple';
}
