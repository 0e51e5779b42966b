import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach } from 'vitest';
import { DapClient, ROOT } from './client';

/** The digits example: a trained Vim of a few layers. */
export const DIGITS = {
  model: `${ROOT}examples/vim_digits.json`,
  checkpoint: `${ROOT}examples/vim_digits.safetensors`,
  input: `${ROOT}examples/digits/digit_7.png`,
};

export interface Setup {
  functions?: DebugProtocol.FunctionBreakpoint[];
  lines?: { path: string; breakpoints: DebugProtocol.SourceBreakpoint[] }[];
  filters?: string[];
}

/** A debug session under test, at the level of what a person does. */
export class Session {
  readonly client = new DapClient();
  functionAnswers: DebugProtocol.Breakpoint[] = [];
  lineAnswers: DebugProtocol.Breakpoint[] = [];
  private seen = 0;

  /** Initializes, launches, sets breakpoints and lets the model run. */
  async start(launch: Record<string, unknown>, setup: Setup = {}): Promise<this> {
    const { client } = this;
    await client.request('initialize', { adapterID: 'mamba', supportsProgressReporting: true });
    await client.request('launch', launch);
    await client.event('initialized');
    await this.setFunctions(setup.functions ?? []);
    for (const { path, breakpoints } of setup.lines ?? []) {
      this.lineAnswers = (
        await client.request<DebugProtocol.SetBreakpointsResponse['body']>('setBreakpoints', {
          source: { path },
          breakpoints,
        })
      ).breakpoints;
    }
    await client.request('setExceptionBreakpoints', { filters: setup.filters ?? [] });
    this.seen = client.received.length;
    await client.request('configurationDone');
    return this;
  }

  async setFunctions(breakpoints: DebugProtocol.FunctionBreakpoint[]): Promise<void> {
    const body = await this.client.request<DebugProtocol.SetFunctionBreakpointsResponse['body']>(
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
  async step(command: string): Promise<DebugProtocol.StoppedEvent['body']> {
    await this.client.request(command, { threadId: 1 });
    return this.stopped();
  }

  async terminated(): Promise<void> {
    await this.client.event('terminated', this.seen);
  }

  async stack(): Promise<DebugProtocol.StackFrame[]> {
    return (
      await this.client.request<DebugProtocol.StackTraceResponse['body']>('stackTrace', { threadId: 1 })
    ).stackFrames;
  }

  /** Variables of a scope of a frame (the top one by default), by name. */
  async scope(name: string, frame = 0): Promise<Record<string, DebugProtocol.Variable>> {
    const frameId = (await this.stack())[frame].id;
    const { scopes } = await this.client.request<DebugProtocol.ScopesResponse['body']>('scopes', { frameId });
    const scope = scopes.find((s) => s.name === name);
    if (!scope) throw new Error(`There is no scope "${name}", only ${scopes.map((s) => s.name).join(', ')}.`);
    return this.children(scope.variablesReference);
  }

  async children(
    variablesReference: number,
    page: object = {},
  ): Promise<Record<string, DebugProtocol.Variable>> {
    const { variables } = await this.client.request<DebugProtocol.VariablesResponse['body']>('variables', {
      variablesReference,
      ...page,
    });
    return Object.fromEntries(variables.map((v) => [v.name, v]));
  }

  async evaluate(expression: string, context = 'watch', frame = 0): Promise<string> {
    const frameId = (await this.stack())[frame].id;
    return (
      await this.client.request<DebugProtocol.EvaluateResponse['body']>('evaluate', {
        expression,
        context,
        frameId,
      })
    ).result;
  }

  /** All text written to the Debug Console so far. */
  get console(): string {
    return this.client.received
      .filter(
        (m): m is DebugProtocol.OutputEvent =>
          m.type === 'event' && (m as DebugProtocol.Event).event === 'output',
      )
      .map((m) => m.body.output)
      .join('');
  }
}

const sessions: Session[] = [];

/** A new session that ends with the test. */
export function session(): Session {
  const made = new Session();
  sessions.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((s) => s.client.dispose()));
});
