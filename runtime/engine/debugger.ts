import { matchGlob } from '../../src/protocol/breakpointSpec';
import {
  describeComparison,
  ExpressionError,
  evaluate,
  formatForLog,
  type Scope,
  TensorValue,
  truth,
  type Value,
} from '../expression';
import type { FilterSetting, Finding } from './finding';
import { siteText } from './frames';
import { findGradientFault } from './gradientHealth';
import { levelsAt, siteOf } from './names';
import { findNonFinite } from './nonfinite';
import { asksForPass, type Probe, type ProbeResult, ProbeSet, type ProbeSpec } from './probes';
import { scopeOf } from './scope';
import type { RunState } from './state';
import { isReverse, type Position, type StepMode } from './timeline';

/** Why a run stands still. */
export interface Stop {
  reason: 'entry' | 'step' | 'pause' | 'breakpoint' | 'function breakpoint' | 'exception';
  /** Title, e.g. `Paused at selective_scan entry`. */
  description: string;
  /** Why, with the numbers that made it so. */
  text?: string;
  probeIds: number[];
  exception?: Finding;
}

/** `stdout` is what the person asked to see, `console` what the debugger says, `important` what needs attention. */
export type OutputCategory = 'stdout' | 'console' | 'important';

/** What a debugger tells while it runs. */
export interface DebuggerListener {
  /** A log message, or a sentence about a breakpoint. */
  output(text: string, category: OutputCategory): void;
  /** A condition failed while it was evaluated; the probe never stops. */
  probeFailed(id: number, message: string): void;
  /** Called between ops: lets messages in, and tells whether a pause was asked for. */
  breathe(): Promise<boolean> | boolean;
}

/** Runs a program to the next stop, forward or backward in time. */
export class Debugger {
  readonly probes: ProbeSet;
  private filters: readonly FilterSetting[] = [];
  private filterNames: ReadonlySet<string> = new Set();
  private readonly failed = new Set<number>();

  constructor(
    readonly state: RunState,
    private readonly listener: DebuggerListener,
  ) {
    this.probes = new ProbeSet(state.program);
  }

  setProbes(specs: readonly ProbeSpec[]): ProbeResult[] {
    this.failed.clear();
    return this.probes.set(specs);
  }

  setFilters(filters: readonly FilterSetting[]): void {
    this.filters = filters;
    this.filterNames = new Set(filters.map((f) => f.filter));
  }

  /** Goes to the first op or module call. */
  async toEntry(): Promise<Stop | undefined> {
    const stop = await this.forward('continue', (p) => this.state.timeline.isStep(p));
    return stop && { ...stop, reason: stop.reason === 'step' ? 'entry' : stop.reason };
  }

  /** Runs until something stops it; undefined at the end of the program. */
  resume(mode: StepMode): Promise<Stop | undefined> {
    const target = this.state.timeline.target(this.state.position, mode);
    return isReverse(mode) ? this.backward(mode, target) : this.forward(mode, target);
  }

  private async forward(mode: StepMode, target: (p: Position) => boolean): Promise<Stop | undefined> {
    const { state } = this;
    const from = state.position;
    let pausing = false;
    for (;;) {
      pausing ||= await this.listener.breathe();
      const { event, phase } = state.position;
      const opened = event === from.event && (mode === 'stepIn' || (mode === 'next' && phase === 'inside'));
      state.advance(opened || this.probes.watchesSteps(event));
      if (state.timeline.isEnd(state.position)) return undefined;
      const stop = this.hit(state.position) ?? this.filtered(state.position);
      if (stop) return stop;
      if (target(state.position)) return this.plainStop('step');
      if (pausing && state.timeline.isStep(state.position)) return this.plainStop('pause');
    }
  }

  private async backward(mode: StepMode, target: (p: Position) => boolean): Promise<Stop> {
    const { state } = this;
    const from = state.position;
    const first = state.timeline.first.event;
    let pausing = false;
    this.unhit(state.position);
    for (;;) {
      if (state.position.event <= first && state.position.phase === 'before') return this.atStart();
      pausing ||= await this.listener.breathe();
      const { event, phase } = state.position;
      const stepping = mode === 'stepBack' && phase === 'inside' && event === from.event;
      state.retreat(stepping || this.probes.watchesSteps(event));
      const stop = this.hitInReverse(state.position);
      if (stop) return stop;
      if (target(state.position)) return this.plainStop('step');
      if (pausing && state.timeline.isStep(state.position)) return this.plainStop('pause');
    }
  }

  private atStart(): Stop {
    this.state.position = this.state.timeline.first;
    return { ...this.plainStop('entry'), text: 'This is the start of the run.' };
  }

  /** Moves an open scan to a time step. */
  seek(t: number): Stop {
    this.state.seek(t);
    return this.plainStop('step');
  }

  private plainStop(reason: Stop['reason']): Stop {
    return {
      reason,
      description: `Paused at ${siteText(this.state) || this.state.program.name}`,
      probeIds: [],
    };
  }

  /** Counts the breakpoints that hold here, writes their log messages, and gives the stop if one asks for it. */
  private hit(position: Position): Stop | undefined {
    const held = this.holding(position);
    const counted = held.filter((probe) => {
      probe.hits++;
      return probe.counts();
    });
    for (const probe of counted) if (probe.logParts) this.log(probe);
    return this.stopAt(counted.filter((probe) => !probe.logParts));
  }

  /** Going back, a breakpoint's hit number is the one that it had here on the way forward. */
  private hitInReverse(position: Position): Stop | undefined {
    const held = this.holding(position);
    const stop = this.stopAt(held.filter((probe) => probe.counts() && !probe.logParts));
    if (!stop) for (const probe of held) probe.hits--;
    return stop;
  }

  private unhit(position: Position): void {
    for (const probe of this.holding(position)) probe.hits = Math.max(0, probe.hits - 1);
  }

  private holding(position: Position): Probe[] {
    return this.probes.at(position.event, position.phase).filter((probe) => this.holds(probe));
  }

  private holds(probe: Probe): boolean {
    return this.heldScope(probe) !== undefined;
  }

  /** The names under which a probe's condition holds here; undefined when it does not. */
  private heldScope(probe: Probe): Scope | undefined {
    const scopes = this.scopesOf(probe);
    const { condition } = probe;
    if (!condition) return scopes[0];
    try {
      return scopes.find((scope) => truth(evaluate(condition, scope), condition.text));
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      if (!this.isOfOtherPass(probe, scopes[0])) this.fail(probe, error.message);
      return undefined;
    }
  }

  /** A line, and what asks for the pass, is reached by both passes; names in it may belong to one of them only. */
  private isOfOtherPass({ spec, condition }: Probe, scope: Scope): boolean {
    if (spec.target.kind === 'line')
      return this.state.timeline.eventAt(this.state.position)!.pass === 'backward';
    return asksForPass(condition!) && [...condition!.names()].some((name) => scope.get(name) === undefined);
  }

  /** One set of names, or for a gradient breakpoint one for each gradient that the op has completed. */
  private scopesOf(probe: Probe): Scope[] {
    const [level] = levelsAt(this.state);
    const names = (extra: Record<string, Value>) => scopeOf(this.state, level, { hit: probe.hits, ...extra });
    const { target } = probe.spec;
    if (target.kind !== 'gradient') return [names({})];
    const matches = matchGlob(target.glob);
    return this.state
      .gradientsAt(this.state.position.event)
      .filter(([parameter]) => matches(parameter))
      .map(([parameter, value]) =>
        names({ parameter, grad: new TensorValue(this.state.execution.tensor(value)) }),
      );
  }

  private fail(probe: Probe, message: string): void {
    if (this.failed.has(probe.spec.id)) return;
    this.failed.add(probe.spec.id);
    this.listener.probeFailed(probe.spec.id, message);
  }

  private log(probe: Probe): void {
    const scope = this.heldScope(probe)!;
    try {
      const words = probe.logParts!.map((part) =>
        'text' in part ? part.text : formatForLog(evaluate(probe.expression(part.expression), scope)),
      );
      this.listener.output(words.join(''), 'stdout');
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.fail(probe, error.message);
    }
  }

  private stopAt(probes: readonly Probe[]): Stop | undefined {
    if (probes.length === 0) return undefined;
    const lines = probes.every((p) => p.spec.target.kind === 'line');
    const scope = this.heldScope(probes[0])!;
    const parameter = scope.get('parameter');
    if (typeof parameter === 'string') this.state.focus = parameter;
    const numbers = probes[0].condition && describeComparison(probes[0].condition, scope);
    return {
      reason: lines ? 'breakpoint' : 'function breakpoint',
      description: `Paused at ${this.whatIsReached(probes[0])}`,
      text: `${this.place(scope)}${numbers ? `: ${numbers}` : ''} (hit ${probes[0].hits})`,
      probeIds: probes.map((p) => p.spec.id),
    };
  }

  private whatIsReached(probe: Probe): string {
    if (probe.spec.target.kind === 'gradient') return 'gradient';
    const [level] = levelsAt(this.state);
    const { phase, t } = this.state.position;
    const name = level.op?.name ?? (level.scope.path || level.scope.kind);
    const what = level.pass === 'backward' ? `gradient of ${name}` : name;
    return `${what} ${{ before: 'entry', inside: `step ${t}`, after: 'exit' }[phase]}`;
  }

  /** Module and direction, e.g. `layers.3.mixer, backward`; for a gradient its parameter. */
  private place(scope: Scope): string {
    const parameter = scope.get('parameter');
    if (typeof parameter === 'string') return parameter;
    const [level] = levelsAt(this.state);
    const { module, direction } = siteOf(level, this.state.position);
    return [module || this.state.program.name, ...(direction ? [direction] : [])].join(', ');
  }

  /** What an exception filter finds in the outputs of the op that has just run. */
  private filtered(position: Position): Stop | undefined {
    if (this.filters.length === 0 || position.phase !== 'after') return undefined;
    const op = this.state.timeline.opAt(position)!;
    if (op.kind.view) return undefined;
    const exception =
      findNonFinite(this.state, op, this.filterNames) ?? findGradientFault(this.state, this.filters);
    if (!exception) return undefined;
    const what = { nan: 'NaN', inf: 'Inf', exploding: 'exploding gradient', vanishing: 'vanishing gradient' }[
      exception.filter
    ];
    return {
      reason: 'exception',
      description: `Paused on ${what}`,
      text: exception.text,
      probeIds: [],
      exception,
    };
  }
}
