import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach } from 'vitest';
import { DapClient, ROOT } from '../dap/client';
import { ensurePython } from '../setup/python.mjs';

export const PYTHON = process.env['SCANPOINT_PYTHON'] ?? (await ensurePython());
export const FAKE_AGENT = join(ROOT, 'test', 'proxy', 'fakeAgent');

type Body<T extends { body?: unknown }> = NonNullable<T['body']>;
type Variables = Record<string, DebugProtocol.Variable>;

/** Writes a program to a folder of its own; lines are found again by their `# mark` comments. */
export function script(text: string, name = 'program.py'): string {
  const path = join(mkdtempSync(join(tmpdir(), 'scanpoint-')), name);
  writeFileSync(path, text);
  return path;
}

/** The number of the line that ends in `# mark`. */
export function lineOf(text: string, mark: string): number {
  const index = text.split('\n').findIndex((line) => line.endsWith(`# ${mark}`));
  if (index < 0) throw new Error(`No line is marked with "${mark}".`);
  return index + 1;
}

export interface Setup {
  lines?: Omit<DebugProtocol.SourceBreakpoint, 'column'>[];
  functions?: DebugProtocol.FunctionBreakpoint[];
  filters?: string[];
  filterOptions?: DebugProtocol.ExceptionFilterOptions[];
}

const CLIENT = { adapterID: 'mamba', pathFormat: 'path', linesStartAt1: true, columnsStartAt1: true };

/** A debug session of a Python program under test, at the level of what a person does. */
export class PythonSession {
  readonly client: DapClient;
  lineAnswers: DebugProtocol.Breakpoint[] = [];
  functionAnswers: DebugProtocol.Breakpoint[] = [];
  filterAnswers: DebugProtocol.Breakpoint[] = [];
  /** The start request's number; debugpy answers it when the program runs. */
  starting = 0;
  seen = 0;
  private readonly answered = new Set<number>();

  constructor(
    agent = FAKE_AGENT,
    flags: readonly string[] = [],
    private readonly abilities: Record<string, unknown> = {},
  ) {
    this.client = new DapClient(process.execPath, [`${ROOT}dist/adapter.js`, '--agent', agent, ...flags]);
  }

  /** Sends `initialize` and the start request, and waits until breakpoints can be set. */
  async open(request: 'launch' | 'attach', args: Record<string, unknown>): Promise<this> {
    await this.client.request('initialize', { ...CLIENT, ...this.abilities });
    this.starting = this.client.send(request, args);
    const failed = this.client.response(this.starting).then((r) => {
      if (!r.success) throw new Error(r.message);
    });
    failed.catch(() => {});
    await Promise.race([this.client.event('initialized'), failed]);
    return this;
  }

  /** Sets breakpoints and lets the program run. */
  async configure(path: string, setup: Setup = {}): Promise<this> {
    if (setup.lines) await this.setLines(path, setup.lines);
    if (setup.functions) await this.setFunctions(setup.functions);
    const { filters = [], filterOptions } = setup;
    const answer = await this.client.request<Body<DebugProtocol.SetExceptionBreakpointsResponse>>(
      'setExceptionBreakpoints',
      { filters, filterOptions },
    );
    this.filterAnswers = answer.breakpoints ?? [];
    this.seen = this.client.received.length;
    await this.client.request('configurationDone');
    const { success, message } = await this.client.response(this.starting);
    if (!success) throw new Error(message);
    return this;
  }

  async launch(program: string, setup: Setup = {}, args: Record<string, unknown> = {}): Promise<this> {
    await this.open('launch', { program, python: PYTHON, ...args });
    return this.configure(program, setup);
  }

  async setLines(path: string, breakpoints: DebugProtocol.SourceBreakpoint[]): Promise<void> {
    const body = await this.client.request<Body<DebugProtocol.SetBreakpointsResponse>>('setBreakpoints', {
      source: { path },
      breakpoints,
    });
    this.lineAnswers = body.breakpoints;
  }

  async setFunctions(breakpoints: DebugProtocol.FunctionBreakpoint[]): Promise<void> {
    const body = await this.client.request<Body<DebugProtocol.SetFunctionBreakpointsResponse>>(
      'setFunctionBreakpoints',
      { breakpoints },
    );
    this.functionAnswers = body.breakpoints;
  }

  /** The next stop. */
  async stopped(): Promise<DebugProtocol.StoppedEvent['body']> {
    const event = await this.client.event<DebugProtocol.StoppedEvent>('stopped', this.seen);
    this.seen = this.client.received.indexOf(event) + 1;
    return event.body;
  }

  /** Sends a stepping request and waits for the stop that it leads to. */
  async step(command: string, threadId: number): Promise<DebugProtocol.StoppedEvent['body']> {
    await this.client.request(command, { threadId });
    return this.stopped();
  }

  /** Lets the program run to its end; gives its exit code. */
  async finish(threadId: number): Promise<number> {
    await this.client.request('continue', { threadId });
    return this.exited();
  }

  async exited(): Promise<number> {
    const event = await this.client.event<DebugProtocol.ExitedEvent>('exited');
    await this.client.event('terminated');
    return event.body.exitCode;
  }

  async stack(threadId: number): Promise<DebugProtocol.StackFrame[]> {
    return (await this.client.request<Body<DebugProtocol.StackTraceResponse>>('stackTrace', { threadId }))
      .stackFrames;
  }

  async line(threadId: number): Promise<number> {
    return (await this.stack(threadId))[0].line;
  }

  async scopes(frameId: number): Promise<DebugProtocol.Scope[]> {
    return (await this.client.request<Body<DebugProtocol.ScopesResponse>>('scopes', { frameId })).scopes;
  }

  async children(variablesReference: number, page: object = {}): Promise<Variables> {
    const { variables } = await this.client.request<Body<DebugProtocol.VariablesResponse>>('variables', {
      variablesReference,
      ...page,
    });
    return Object.fromEntries(variables.map((v) => [v.name, v]));
  }

  /** Variables of a scope of the top frame, by name. */
  async scope(threadId: number, name: string): Promise<Variables> {
    const [top] = await this.stack(threadId);
    const scope = (await this.scopes(top.id)).find((s) => s.name === name);
    if (!scope) throw new Error(`The frame ${top.name} has no scope "${name}".`);
    return this.children(scope.variablesReference);
  }

  async evaluate(threadId: number, expression: string, context = 'watch'): Promise<string> {
    const [top] = await this.stack(threadId);
    const args = { expression, context, frameId: top.id };
    return (await this.client.request<Body<DebugProtocol.EvaluateResponse>>('evaluate', args)).result;
  }

  /** Answers a request of the adapter's, as VS Code would; gives its arguments. */
  async answerReverse(command: string, success = true): Promise<Record<string, unknown>> {
    const answering = await new Promise<Record<string, unknown>>((resolve) => {
      const { stop } = this.onReverse(command, success, (args) => {
        stop();
        resolve(args);
      });
    });
    return answering;
  }

  /** Answers all requests of a kind that the adapter sends from now on. */
  onReverse(
    command: string,
    success: boolean,
    seen: (args: Record<string, unknown>) => void = () => {},
  ): { stop(): void } {
    const look = () => {
      for (const m of this.client.received as DebugProtocol.Request[]) {
        if (m.type !== 'request' || m.command !== command || this.answered.has(m.seq)) continue;
        this.answered.add(m.seq);
        const answer = { seq: 0, type: 'response', request_seq: m.seq, command, success, body: {} };
        this.client.write(JSON.stringify(answer));
        seen(m.arguments);
      }
    };
    const timer = setInterval(look, 10);
    return { stop: () => clearInterval(timer) };
  }

  get output(): string {
    return this.client.received
      .filter((m): m is DebugProtocol.OutputEvent => (m as DebugProtocol.Event).event === 'output')
      .map((m) => m.body.output)
      .join('');
  }
}

const sessions: PythonSession[] = [];

/** A new session that ends with the test. */
export function pythonSession(
  agent?: string,
  flags?: readonly string[],
  abilities?: Record<string, unknown>,
): PythonSession {
  const made = new PythonSession(agent, flags, abilities);
  sessions.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(
    sessions.splice(0).map(async ({ client }) => {
      // Through the adapter, so that the program ends too.
      await Promise.race([
        client.response(client.send('disconnect', { terminateDebuggee: true })).catch(() => {}),
        new Promise((resolve) => setTimeout(resolve, 3_000)),
      ]);
      await client.dispose();
    }),
  );
});
