import type { DebugProtocol } from '@vscode/debugprotocol';
import {
  BOUNDARIES,
  BreakpointSpecError,
  type BreakpointTarget,
  parseBreakpointName,
  splitBreakpointText,
} from '../../protocol/breakpointSpec';
import type { LaunchBreakpoint } from '../../protocol/launch';
import type { RequestArguments } from '../arguments';
import type { Extras } from '../breakpoints/requested';
import type { AgentClient } from './agentClient';
import { agentId, fromDebugpy } from './breakpointIds';
import { type ConditionCheck, forDebugpy } from './conditions';
import { splitFilters } from './exceptionFilters';
import type { Forward } from './forward';

/** A breakpoint of the agent's. */
interface Probe extends Extras {
  id: number;
  /** As the person wrote it. */
  label: string;
  target: BreakpointTarget;
}

export interface BreakpointEvents {
  changed(breakpoint: DebugProtocol.Breakpoint): void;
  say(text: string): void;
}

type Answer = DebugProtocol.Breakpoint;

/** What a function breakpoint is: the agent's, a Python function of debugpy's, or a mistake. */
type Meaning = { target: BreakpointTarget } | { python: string } | { problem: string };

/** Sets breakpoints where they belong, and answers for both debuggers in the client's order. */
export class ProxyBreakpoints {
  private probes = new Map<'functions' | 'launch', Probe[]>();
  /** Ids of breakpoints whose function has not been found so far. */
  private readonly waiting = new Set<number>();
  private next = 0;
  /** One set request at a time, so that the last one wins. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly forward: Forward,
    private readonly agent: AgentClient,
    private readonly check: ConditionCheck,
    private readonly events: BreakpointEvents,
  ) {}

  setLines(args: RequestArguments): Promise<{ breakpoints: Answer[] }> {
    return this.inTurn(async () => {
      const source = args.raw('source');
      const wanted = args
        .objects('breakpoints')
        .map((b) => ({ line: b.number('line'), column: b.optionalNumber('column'), ...extrasOf(b) }));
      const breakpoints = await this.setPython('setBreakpoints', wanted, {
        source,
        sourceModified: args.raw('sourceModified'),
      });
      return { breakpoints };
    });
  }

  setFunctions(args: RequestArguments): Promise<{ breakpoints: Answer[] }> {
    return this.inTurn(async () => {
      const wanted = args.objects('breakpoints').map((b) => readFunction(b.string('name'), extrasOf(b)));
      const python = wanted.flatMap((w) =>
        'python' in w.meaning ? [{ name: w.meaning.python, ...w.extras }] : [],
      );
      const answers = [
        await this.setPython('setFunctionBreakpoints', python, {}),
        await this.setProbes('functions', wanted),
      ];
      const breakpoints = wanted.map(({ meaning }): Answer => {
        if ('problem' in meaning) return { verified: false, message: meaning.problem };
        return answers['python' in meaning ? 0 : 1].shift()!;
      });
      return { breakpoints };
    });
  }

  /** Sets those of the launch configuration, once; says of each why it cannot be set. */
  setLaunch(breakpoints: readonly LaunchBreakpoint[]): Promise<void> {
    return this.inTurn(async () => {
      if (breakpoints.length === 0) return;
      const wanted = breakpoints.map(({ name, ...extras }) => readFunction(name, extras));
      for (const w of wanted) if (!('target' in w.meaning)) this.refuseLaunch(w.label, problemOf(w.meaning));
      await this.setProbes('launch', wanted);
    });
  }

  setFilters(args: RequestArguments): Promise<{ breakpoints: Answer[] }> {
    return this.inTurn(async () => {
      const { python, tensor, answers } = splitFilters(args);
      await this.forward('setExceptionBreakpoints', python);
      if (this.agent.alive)
        await this.agent.callEarly('setFilters', { filters: tensor }, (reply) => reply.catch(() => {}));
      const available = this.agent.alive || tensor.length === 0;
      return { breakpoints: answers.map((a) => (available ? a : { ...a, message: a.message ?? NO_AGENT })) };
    });
  }

  /** A sentence about each kind of boundary that a breakpoint asked for and the program never had. */
  neverFound(): string[] {
    const waiting = [...this.probes.values()].flat().filter(({ id }) => this.waiting.has(id));
    const boundaries = new Set(
      waiting.flatMap(({ target }) => (target.kind === 'boundary' ? [target.boundary] : [])),
    );
    return [...boundaries].map(
      (boundary) =>
        `No ${boundary} was found in this program: its own modules and the known packages were looked at. Name your function in "scanFunctions" of the launch configuration, e.g. ["ops.my_scan"].`,
    );
  }

  /** Conditions of the breakpoints on the time steps of a scan; an empty one always holds. */
  stepConditions(): string[] {
    const all = [...this.probes.values()].flat();
    const steps = all.filter(({ target }) => target.kind === 'boundary' && target.phase === 'step');
    return steps.map(({ condition }) => condition?.trim() ?? '');
  }

  /** Sets line or function breakpoints of debugpy's; those that cannot work are answered here. */
  private async setPython<T extends Extras>(
    command: string,
    wanted: readonly T[],
    rest: object,
  ): Promise<Answer[]> {
    const problems = await this.check.problems(wanted);
    const breakpoints = wanted
      .filter((_, i) => problems[i] === undefined)
      .map((b) => forDebugpy(b, `${process.pid}.${this.next++}`, this.agent.alive));
    const body = await this.forward<{ breakpoints?: Answer[] }>(command, { ...rest, breakpoints });
    const answers = [...(body?.breakpoints ?? [])];
    return problems.map((message): Answer => {
      if (message !== undefined) return { verified: false, message };
      return clientBreakpoint(answers.shift() ?? { verified: false });
    });
  }

  /** The agent's word on a breakpoint, e.g. once the module that it lies in has been imported. */
  onProbe(result: Record<string, unknown>): void {
    const message = typeof result['message'] === 'string' ? result['message'] : undefined;
    const reason = result['reason'] === 'pending' ? 'pending' : undefined;
    const answer: Answer = {
      id: Number(result['id']),
      verified: result['verified'] === true,
      message,
      reason,
    };
    if (reason) this.waiting.add(Number(answer.id));
    else this.waiting.delete(Number(answer.id));
    const own = this.probes.get('launch')?.find((p) => p.id === answer.id);
    if (!own) this.events.changed(answer);
    else if (!answer.verified && message && !reason) this.refuseLaunch(own.label, message);
  }

  /** Sets the agent's breakpoints among those wanted; one answer for each of these. */
  private async setProbes(
    group: 'functions' | 'launch',
    wanted: readonly WantedFunction[],
  ): Promise<Answer[]> {
    const probes = wanted.flatMap(({ label, meaning, extras }): Probe[] =>
      'target' in meaning ? [{ id: agentId(this.next++), label, target: meaning.target, ...extras }] : [],
    );
    const changed = probes.length > 0 || (this.probes.get(group)?.length ?? 0) > 0;
    this.probes.set(group, probes);
    if (!changed) return [];
    try {
      return await this.askAgent(probes);
    } catch (error) {
      return probes.map(({ id }) => ({ id, verified: false, message: (error as Error).message }));
    }
  }

  private async askAgent(probes: Probe[]): Promise<Answer[]> {
    const all = [...this.probes.values()].flat().map(({ label: _, ...probe }) => probe);
    const report = async (reply: Promise<Answer[]>) => {
      for (const result of answersFor(probes, await reply)) this.onProbe({ ...result });
    };
    const results = await this.agent.callEarly<Answer[]>('setProbes', { probes: all }, (reply) =>
      report(reply).catch(() => {}),
    );
    if (results) return answersFor(probes, results);
    return probes.map(({ id }) => ({ id, verified: false, message: 'Looked for once the program runs.' }));
  }

  private refuseLaunch(label: string, problem: string): void {
    this.events.say(`The breakpoint "${label}" of the launch configuration cannot be set: ${problem}`);
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.turn.then(work);
    this.turn = done.catch(() => {});
    return done;
  }
}

const NO_AGENT = 'Scanpoint is not in this process, so nothing looks at its tensors.';

interface WantedFunction {
  label: string;
  meaning: Meaning;
  extras: Extras;
}

/** A breakpoint of debugpy's as the client knows it. */
export function clientBreakpoint(b: Answer): Answer {
  return b.id === undefined ? b : { ...b, id: fromDebugpy(b.id) };
}

/** Reads a function breakpoint. A bare name is a Python function; module paths have a dot, a star or a phase. */
function readFunction(label: string, given: Extras): WantedFunction {
  const { name, logMessage } = splitBreakpointText(label);
  const extras = { ...given, logMessage: given.logMessage ?? logMessage };
  return { label, extras, meaning: meaningOf(name.trim(), extras.logMessage !== undefined) };
}

function meaningOf(name: string, logs: boolean): Meaning {
  const isFunction = /^[A-Za-z_]\w*$/.test(name) && !BOUNDARIES.some((b) => b === name);
  if (isFunction && logs)
    return { problem: 'A Python function takes no log message here; set a logpoint on its line.' };
  if (isFunction) return { python: name };
  try {
    return { target: parseBreakpointName(name) };
  } catch (error) {
    if (error instanceof BreakpointSpecError) return { problem: error.message };
    throw error;
  }
}

function problemOf(meaning: Meaning): string {
  return 'problem' in meaning ? meaning.problem : 'it is a Python function; add it in the Breakpoints view.';
}

function answersFor(probes: readonly Probe[], results: readonly Answer[]): Answer[] {
  return probes.map(({ id }) => {
    const { verified, message, reason } = results.find((r) => r.id === id) ?? { verified: false };
    return { id, verified, message, reason };
  });
}

function extrasOf(b: RequestArguments): Extras {
  return {
    condition: b.optionalString('condition'),
    hitCondition: b.optionalString('hitCondition'),
    logMessage: b.optionalString('logMessage'),
  };
}
