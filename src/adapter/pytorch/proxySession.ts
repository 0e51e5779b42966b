import { Event, ExitedEvent, InitializedEvent, OutputEvent, TerminatedEvent } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import type { PyTorchStart } from '../../protocol/pytorchLaunch';
import { FIND_ORIGIN_REQUEST, TRACE_REQUEST } from '../../protocol/pytorchRequests';
import { ANSWER_REQUEST } from '../../protocol/questions';
import {
  GRADIENTS_REQUEST,
  SEEK_SCAN_REQUEST,
  SITES_REQUEST,
  TENSOR_DATA_REQUEST,
  TENSORS_CHANGED_EVENT,
  TENSORS_REQUEST,
} from '../../protocol/requests';
import { isObject, type RequestArguments, readBreakpoints } from '../arguments';
import { alreadyRunning, UserError } from '../errors';
import { type Handler, type Handlers, RequestServer } from '../requestServer';
import { onAgentEvent } from './agentEvents';
import { clientBreakpoint, ProxyBreakpoints } from './breakpoints';
import { PYTORCH_CAPABILITIES } from './capabilities';
import { ConditionCheck } from './conditions';
import { OwnDebugpy } from './debugpyLocator';
import { FORWARDED } from './forward';
import { hurry, inject } from './injection';
import { Inspection } from './inspection';
import { Questions } from './questions';
import { isOurs } from './references';
import { ReverseRequests } from './reverseRequests';
import { debugpyArguments, readStart } from './startArguments';
import { Stepping } from './stepping';
import { Target } from './target';

/** A terminal may ask the person first. */
const CLIENT_MS = 120_000;
/** A search for the origin of a NaN runs a training step op by op. */
const LONG_MS = 600_000;

export interface ProxyOptions {
  /** Folder that holds the package `scanpoint_agent`. */
  agent: string;
  /** The script that runs debugpy's adapter with its listeners guarded. */
  guard: string;
  /** Folder to run in that holds no Python files. */
  neutral: string;
  /** Folder of ours that outlives the session. */
  storage: string;
  /** Whether the client answers questions. */
  asks: boolean;
}

/** One debug session of the PyTorch target: the client on one side, debugpy and our agent on the other. */
export class ProxySession extends RequestServer {
  private initialized = () => {};
  private readonly target = new Target(
    new Promise((resolve) => {
      this.initialized = resolve;
    }),
  );
  private launch?: PyTorchStart;
  private given: Record<string, unknown> = {};
  private terminated = false;
  private readonly adopted: boolean;
  private readonly questions: Questions;
  private readonly stepping: Stepping;
  private readonly inspection: Inspection;
  private readonly breakpoints: ProxyBreakpoints;
  private readonly reverse: ReverseRequests;

  constructor(
    private readonly options: ProxyOptions,
    /** What the client said of itself, when another session has answered its `initialize`. */
    private client?: Record<string, unknown>,
  ) {
    super();
    const { forward, agent } = this.target;
    this.adopted = client !== undefined;
    this.questions = new Questions(options.asks, (event) => this.sendEvent(event));
    this.breakpoints = new ProxyBreakpoints(
      forward,
      agent,
      new ConditionCheck((expression, timeout) => this.target.run(expression, timeout)),
      {
        changed: (breakpoint) => this.sendEvent(new Event('breakpoint', { reason: 'changed', breakpoint })),
        say: (text) => this.say(text),
      },
    );
    this.stepping = new Stepping(forward, agent, {
      send: (event) => this.sendEvent(event),
      say: (text) => this.say(text),
      stepConditions: () => this.breakpoints.stepConditions(),
    });
    this.inspection = new Inspection(forward, agent, this.stepping);
    this.reverse = new ReverseRequests(this.target, {
      ask: (command, args) => this.askClient(command, args),
      startsSessions: () => this.client?.['supportsStartDebuggingRequest'] === true,
      forChildren: () => this.forChildren(),
      say: (text) => this.say(text),
    });
  }

  protected override readonly handlers: Handlers = {
    ...Object.fromEntries(FORWARDED.map((command) => [command, this.passOn(command)])),
    initialize: (_, request) => {
      this.client = isObject(request.arguments) ? request.arguments : {};
      return PYTORCH_CAPABILITIES;
    },
    launch: (_, request) => this.onStart('launch', request.arguments),
    attach: (_, request) => this.onStart('attach', request.arguments),
    configurationDone: this.passOn('configurationDone'),
    terminate: this.passOn('terminate'),
    disconnect: (args) => this.onDisconnect(args.raw('terminateDebuggee')),
    setVariable: this.change('setVariable'),
    setExpression: this.change('setExpression'),
    cancel: (args) => this.onCancel(args),
    [ANSWER_REQUEST]: (args) => this.questions.answer(args),

    setBreakpoints: (args) => this.breakpoints.setLines(args),
    setFunctionBreakpoints: (args) => this.breakpoints.setFunctions(args),
    setExceptionBreakpoints: (args) => this.breakpoints.setFilters(args),

    ...Object.fromEntries(
      (['continue', 'next', 'stepIn', 'stepOut', 'stepBack', 'reverseContinue'] as const).map((command) => [
        command,
        ((args, request) => this.stepping.step(command, args, request.arguments)) satisfies Handler,
      ]),
    ),
    [SEEK_SCAN_REQUEST]: (args) => this.stepping.seek(args.number('t')),

    stackTrace: (args, request) => this.inspection.stackTrace(args, request.arguments),
    scopes: (args) => this.inspection.scopes(args),
    variables: (args, request) => this.inspection.variables(args, request.arguments),
    evaluate: (args, request) => this.inspection.evaluate(args, request.arguments),
    exceptionInfo: (args, request) => this.onExceptionInfo(args, request.arguments),
    [TENSORS_REQUEST]: this.ask('tensors'),
    [TENSOR_DATA_REQUEST]: this.ask('tensorData'),
    [GRADIENTS_REQUEST]: this.ask('gradients'),
    [SITES_REQUEST]: this.ask('sites'),
    [TRACE_REQUEST]: this.ask('trace'),
    [FIND_ORIGIN_REQUEST]: this.ask('findOrigin', LONG_MS),
  };

  /** Ends debugpy when the client is gone without a word. */
  async clientGone(): Promise<void> {
    await this.onDisconnect(undefined);
  }

  private passOn(command: string): Handler {
    return (args, request) => this.target.forward(command, this.withRealFrame(args, request.arguments));
  }

  /** A change of a variable; one of ours shows what was computed and cannot be set. */
  private change(command: string): Handler {
    return async (args, request) => {
      if (isOurs(args.optionalNumber('variablesReference') ?? 0))
        throw new UserError('This value is computed by Scanpoint; change the variable it comes from.');
      const body = await this.target.forward(command, this.withRealFrame(args, request.arguments));
      this.sendEvent(new Event(TENSORS_CHANGED_EVENT, {}));
      return body;
    };
  }

  /** The arguments with debugpy's frame in place of ours. */
  private withRealFrame(args: RequestArguments, raw: unknown): unknown {
    const frame = args.optionalNumber('frameId');
    return frame === undefined ? raw : { ...(raw as object), frameId: this.inspection.frameOf(frame) };
  }

  /** A request that the agent answers. */
  private ask(method: string, deadline?: number): Handler {
    return (args, request) =>
      this.target.agent.call(method, this.withRealFrame(args, request.arguments ?? {}), deadline);
  }

  private async onStart(request: 'launch' | 'attach', given: unknown): Promise<unknown> {
    if (this.launch) throw alreadyRunning();
    const start = readStart(request, given);
    readBreakpoints(isObject(given) ? given['breakpoints'] : undefined);
    this.launch = start;
    this.given = isObject(given) ? given : {};
    if (this.adopted) this.sendEvent(new Event('capabilities', { capabilities: PYTORCH_CAPABILITIES }));
    try {
      await this.connect(start);
      const args = debugpyArguments(start, this.options.agent, this.client ?? {});
      return await this.target.start(request, args);
    } catch (error) {
      if (!this.target.connected) this.launch = undefined;
      throw error;
    }
  }

  private connect(start: PyTorchStart): Promise<void> {
    const own = new OwnDebugpy(this.options.storage, this.questions, (text) =>
      this.sendEvent(new OutputEvent(text, 'console')),
    );
    const { neutral, guard } = this.options;
    const deps = { own, neutral, guard, client: this.client ?? {} };
    return this.target.open(start, deps, {
      event: (event) => this.onEvent(event),
      request: (request) => this.reverse.onRequest(request),
      closed: () => this.onClosed(),
    });
  }

  private async onDisconnect(terminate: unknown): Promise<void> {
    this.questions.dismiss();
    await this.target.disconnect(typeof terminate === 'boolean' ? { terminateDebuggee: terminate } : {});
  }

  private onCancel(args: RequestArguments): void {
    const request = args.optionalNumber('requestId');
    if (request !== undefined) this.cancelOpen(request);
  }

  private onExceptionInfo(args: RequestArguments, raw: unknown): unknown {
    const stop = this.stepping.stops.at(args.number('threadId'));
    if (stop?.reason !== 'exception') return this.target.forward('exceptionInfo', raw);
    const { description, text } = stop;
    return { exceptionId: description, description: text, breakMode: 'always', details: { message: text } };
  }

  private onEvent(event: DebugProtocol.Event): void {
    switch (event.event) {
      case 'initialized':
        void this.onInitialized();
        break;
      case 'stopped':
        void this.onStopped(event as DebugProtocol.StoppedEvent);
        break;
      case 'continued':
        this.inspection.resumed();
        this.sendEvent(event);
        break;
      case 'breakpoint':
        event.body.breakpoint = clientBreakpoint(event.body.breakpoint);
        this.sendEvent(event);
        break;
      case 'output':
        if (event.body.category === 'telemetry') break;
        this.target.onOutput(event.body);
        this.sendEvent(event);
        break;
      case 'scanpoint':
        onAgentEvent(event.body, this.target.agent, this.stepping.stops, this.breakpoints, (e) =>
          this.sendEvent(e),
        );
        break;
      case 'debugpyAttach':
        this.reverse.onChild(event.body);
        break;
      case 'terminated':
        this.terminated = true;
        this.target.agent.close('The program has ended.');
        for (const sentence of this.breakpoints.neverFound()) this.say(sentence);
        this.sendEvent(event);
        break;
      case 'debugpySockets':
      case 'debugpyWaitingForServer':
        break;
      default:
        this.sendEvent(event);
    }
  }

  /** Our part goes into the process before the client sets its breakpoints and the first line runs. */
  private async onInitialized(): Promise<void> {
    this.initialized();
    hurry((expression, timeout) => this.target.run(expression, timeout));
    await inject(this.target.agent, this.options.agent, this.launch!.settings, (reason) =>
      this.say(`Scanpoint could not join this process, only plain debugging works: ${reason}`),
    );
    await this.breakpoints.setLaunch(readBreakpoints(this.given['breakpoints']));
    this.sendEvent(new InitializedEvent());
  }

  private async onStopped(event: DebugProtocol.StoppedEvent): Promise<void> {
    const shown = await this.stepping.stopped(event).catch(() => event);
    if (!shown) return;
    this.inspection.resumed();
    this.sendEvent(shown);
    const stop = this.stepping.stops.at(shown.body.threadId ?? 0);
    if (stop?.text) this.sendEvent(new OutputEvent(`${stop.description}: ${stop.text}\n`, 'console'));
  }

  private askClient(command: string, args: unknown): Promise<DebugProtocol.Response> {
    return new Promise((resolve) => this.sendRequest(command, args, CLIENT_MS, resolve));
  }

  /** What a session with a child process needs beside what debugpy gives. */
  private forChildren(): Record<string, unknown> {
    const { breakpoints, type = 'mamba' } = this.given;
    const { settings, python } = this.launch!;
    return {
      type,
      ...settings,
      ...(python && { python }),
      ...(breakpoints !== undefined && { breakpoints }),
    };
  }

  private onClosed(): void {
    this.target.end('debugpy has ended, and the debug session with it.');
    if (this.terminated) return;
    this.terminated = true;
    this.sendEvent(new ExitedEvent(1));
    this.sendEvent(new TerminatedEvent());
  }

  private say(text: string): void {
    this.sendEvent(new OutputEvent(`${text}\n`, 'important'));
  }
}
