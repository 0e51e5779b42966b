import { resolve } from 'node:path';
import {
  Event,
  ExitedEvent,
  InitializedEvent,
  OutputEvent,
  StoppedEvent,
  TerminatedEvent,
  Thread,
} from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import type { OutputCategory, Stop } from '../../runtime/engine/debugger';
import type { Engine } from '../../runtime/engine/engine';
import { isGenerationCall } from '../../runtime/engine/generationCall';
import type { StepMode } from '../../runtime/engine/timeline';
import type { EmbeddedLaunch } from '../protocol/launch';
import { formatCount } from '../protocol/numbers';
import {
  GRADIENTS_REQUEST,
  SEEK_SCAN_REQUEST,
  SITES_REQUEST,
  TENSOR_DATA_REQUEST,
  TENSORS_REQUEST,
} from '../protocol/requests';
import { type RequestArguments, readLaunch } from './arguments';
import { Breakpoints } from './breakpoints/breakpoints';
import { CAPABILITIES } from './capabilities';
import { EngineClient } from './engine/client';
import type { EngineEvent } from './engine/messages';
import { alreadyRunning, cannotLaunch, notStarted, notStopped, UserError } from './errors';
import { ConsoleGeneration } from './generation';
import { type Handler, type Handlers, RequestServer } from './requestServer';
import { Progress } from './runningProgress';
import { StoppedView } from './stoppedView';

const THREAD = 1;

/** Where the package's files are. */
export interface Places {
  /** Folder that holds runtime/models. */
  root: string;
  /** The bundled thread of the engine. */
  engine: string;
}

/** `loading`: launch is under way; `ready`: loaded, waiting for configurationDone. */
type Phase = 'new' | 'loading' | 'ready' | 'running' | 'stopped' | 'ended';

/** One debug session of the embedded target: DAP on one side, the engine's thread on the other. */
export class EmbeddedSession extends RequestServer {
  private phase: Phase = 'new';
  private launch?: EmbeddedLaunch;
  private engine?: EngineClient;
  private lastStop?: Stop;
  private progress?: Progress;
  private showsProgress = false;
  private readonly view: StoppedView;
  private readonly breakpoints: Breakpoints;
  private readonly generation = new ConsoleGeneration(() => this.needEngine());

  constructor(private readonly places: Places) {
    super();
    this.view = new StoppedView(places.root, () => this.needEngine());
    this.breakpoints = new Breakpoints(places.root, () => this.needEngine());
  }

  protected override readonly handlers: Handlers = {
    initialize: (args) => this.onInitialize(args),
    launch: (_, request) => this.onLaunch(request.arguments, request.seq),
    attach: () => {
      throw cannotLaunch('The embedded target is started with "launch"; there is no process to attach to.');
    },
    configurationDone: () => this.onConfigurationDone(),
    restart: (args) => this.onRestart(args),
    terminate: () => this.end(),
    disconnect: () => this.onDisconnect(),
    cancel: (args) => this.onCancel(args),
    threads: () => ({ threads: this.engine ? [new Thread(THREAD, 'model')] : [] }),

    setBreakpoints: (args) => this.breakpoints.setLines(args),
    setFunctionBreakpoints: (args) => this.breakpoints.setFunctions(args),
    setExceptionBreakpoints: (args) => this.breakpoints.setFilters(args),
    breakpointLocations: (args) => this.breakpoints.locations(args),

    continue: () => this.resume('continue', { allThreadsContinued: true }),
    next: () => this.resume('next'),
    stepIn: () => this.resume('stepIn'),
    stepOut: () => this.resume('stepOut'),
    stepBack: () => this.resume('stepBack'),
    reverseContinue: () => this.resume('reverseContinue'),
    pause: () => this.onPause(),

    stackTrace: this.whenStopped((args) => this.view.stackTrace(args)),
    scopes: this.whenStopped((args) => this.view.scopes(args)),
    variables: this.whenStopped((args) => this.view.variables(args)),
    evaluate: this.whenStopped((args, request) => this.onEvaluate(args, request.seq)),
    exceptionInfo: this.whenStopped(() => this.onExceptionInfo()),
    [TENSORS_REQUEST]: this.whenStopped((args) => this.view.tensors(args)),
    [TENSOR_DATA_REQUEST]: this.whenStopped((args) => this.view.tensorData(args)),
    [GRADIENTS_REQUEST]: this.whenStopped(() => this.needEngine().call('gradients')),
    [SITES_REQUEST]: () => this.view.sites(),
    [SEEK_SCAN_REQUEST]: this.whenStopped((args) => this.needEngine().call('seekScan', args.number('t'))),
  };

  private whenStopped(handler: Handler): Handler {
    return (args, request) => {
      if (this.phase === 'new' || this.phase === 'ended') throw notStarted();
      if (this.phase !== 'stopped') throw notStopped();
      return handler(args, request);
    };
  }

  private onInitialize(args: RequestArguments): DebugProtocol.Capabilities {
    this.showsProgress = args.raw('supportsProgressReporting') === true;
    return CAPABILITIES;
  }

  private async onLaunch(given: unknown, seq: number): Promise<void> {
    if (this.phase !== 'new') throw alreadyRunning();
    this.launch = readLaunch(given);
    this.phase = 'loading';
    try {
      await this.load(seq);
    } catch (error) {
      this.phase = 'new';
      await this.disposeEngine();
      throw error instanceof UserError ? this.launchFailure(error) : error;
    }
    this.phase = 'ready';
  }

  /** The dialog gets the first sentence; a table behind it goes to the Debug Console. */
  private launchFailure(error: UserError): UserError {
    const [headline, ...table] = error.message.split('\n');
    if (table.length > 0) this.output(error.message, 'stderr');
    return cannotLaunch(headline);
  }

  protected override afterReply(command: string, success: boolean): void {
    // Breakpoints can be checked only against a program, so the client is asked for them once there is one.
    if (command === 'launch' && success) this.sendEvent(new InitializedEvent());
    if (command === 'disconnect') this.shutdown();
  }

  private async load(seq?: number): Promise<void> {
    const {
      model,
      checkpoint,
      input,
      text,
      label,
      backward,
      loss,
      seed = 0,
      memoryLimit,
      threads,
      noDebug,
      breakpoints = [],
    } = this.launch!;
    this.engine = new EngineClient(
      this.places.engine,
      this.places.root,
      (event) => this.onEngineEvent(event),
      (reason) => this.onEngineDeath(reason),
    );
    const request: Parameters<Engine['load']>[0] = {
      model,
      checkpoint: absolute(checkpoint),
      input: absolute(input),
      text,
      label,
      backward,
      loss,
      seed,
      memoryLimit,
      threads,
    };
    if (typeof model === 'string' && model.endsWith('.json')) request.model = resolve(model);
    const info = await this.withProgress(
      'Scanpoint: loading',
      () => this.needEngine().call('load', request),
      seq,
    );
    this.output(
      `${info.name}: ${formatCount(info.parameters)} parameters, ${formatCount(info.ops)} ops.`,
      'console',
    );
    for (const note of info.notes) this.output(note, 'console');
    this.breakpoints.off = noDebug === true;
    for (const problem of await this.breakpoints.setLaunch(breakpoints)) this.output(problem, 'important');
  }

  private async withProgress<T>(title: string, work: () => Promise<T>, seq?: number): Promise<T> {
    const progress = this.startProgress(title, seq);
    try {
      return await work();
    } finally {
      progress.end();
    }
  }

  private startProgress(title: string, seq?: number): Progress {
    this.progress?.end();
    const send = this.showsProgress ? (event: DebugProtocol.Event) => this.sendEvent(event) : undefined;
    this.progress = new Progress(title, send, seq);
    return this.progress;
  }

  private async onConfigurationDone(): Promise<void> {
    if (this.phase !== 'ready') throw notStarted();
    await this.startRun();
  }

  private async startRun(): Promise<void> {
    const { noDebug = false, stopOnEntry = false } = this.launch!;
    this.run();
    await this.needEngine().call('start', stopOnEntry && !noDebug);
  }

  private run(): void {
    this.phase = 'running';
    this.lastStop = undefined;
    this.needEngine().clearPause();
    this.startProgress('Scanpoint: running');
  }

  /** Loads everything anew, with the files as they are now, and runs from the start. */
  private async onRestart(args: RequestArguments): Promise<void> {
    if (!this.engine) throw notStarted();
    const changed = args.raw('arguments');
    if (changed !== undefined) this.launch = readLaunch(changed);
    await this.disposeEngine();
    this.phase = 'loading';
    try {
      await this.load();
      await this.breakpoints.applyAll();
    } catch (error) {
      await this.end();
      throw error instanceof UserError ? this.launchFailure(error) : error;
    }
    await this.startRun();
  }

  private async onDisconnect(): Promise<void> {
    this.phase = 'ended';
    await this.disposeEngine();
  }

  /** Ends the run and tells the client so. */
  private async end(): Promise<void> {
    if (this.phase === 'ended') return;
    this.phase = 'ended';
    await this.disposeEngine();
    this.sendEvent(new ExitedEvent(0));
    this.sendEvent(new TerminatedEvent());
  }

  private async disposeEngine(): Promise<void> {
    this.progress?.end();
    const engine = this.engine;
    this.engine = undefined;
    await engine?.dispose();
  }

  private async onCancel(args: RequestArguments): Promise<void> {
    const request = args.optionalNumber('requestId');
    if (request !== undefined) this.cancelOpen(request);
    const isCurrent = args.optionalString('progressId') === this.progress?.id;
    const computing = this.phase === 'running' || this.generation.active;
    if ((isCurrent && computing) || this.generation.answers(request)) this.needEngine().pause();
    if (this.phase === 'loading' && (isCurrent || request !== undefined)) await this.disposeEngine();
  }

  private async resume<T>(mode: StepMode, body?: T): Promise<T | undefined> {
    if (this.phase === 'running') throw alreadyRunning();
    if (this.phase !== 'stopped') throw notStarted();
    this.cancelInspection();
    this.run();
    await this.needEngine().call('resume', mode);
    return body;
  }

  private onPause(): void {
    if (this.phase !== 'running' && !this.generation.active) throw notStarted();
    this.needEngine().pause();
  }

  private onEvaluate(args: RequestArguments, seq: number): Promise<DebugProtocol.EvaluateResponse['body']> {
    const expression = args.string('expression');
    if (!isGenerationCall(expression)) return this.view.evaluate(args);
    const context = args.optionalString('context');
    const write = () => this.generation.evaluate(expression, context, seq);
    return this.withProgress('Scanpoint: writing', write, seq);
  }

  private onExceptionInfo(): DebugProtocol.ExceptionInfoResponse['body'] {
    const finding = this.lastStop?.exception;
    if (!finding) throw new UserError('The model did not stop on an exception filter.');
    const exceptionId = finding.title;
    return {
      exceptionId,
      description: finding.details,
      breakMode: 'always',
      details: { message: finding.details, typeName: exceptionId },
    };
  }

  private onEngineEvent(event: EngineEvent): void {
    switch (event.event) {
      case 'stopped':
        void this.onStopped(event.stop);
        break;
      case 'finished':
        void this.end();
        break;
      case 'output':
        this.output(event.text, event.category);
        break;
      case 'probeFailed':
        this.onProbeFailed(event.id, event.message);
        break;
      case 'progress':
        this.progress?.report(event.step);
    }
  }

  private async onStopped(stop: Stop): Promise<void> {
    await this.view.refresh();
    this.progress?.end();
    this.phase = 'stopped';
    this.lastStop = stop;
    const event: DebugProtocol.StoppedEvent = new StoppedEvent(stop.reason, THREAD, stop.text);
    Object.assign(event.body, {
      description: stop.description,
      allThreadsStopped: true,
      hitBreakpointIds: stop.probeIds,
    });
    this.sendEvent(event);
    // The editor shows an exception's details only once it has been touched; the console always does.
    const why = stop.exception?.details ?? stop.text;
    if (stop.reason !== 'step' && why) this.output(`${stop.description}: ${why}`, 'console');
  }

  private onProbeFailed(id: number, message: string): void {
    this.output(`The breakpoint "${this.breakpoints.describe(id)}" is not used: ${message}`, 'important');
    this.sendEvent(
      new Event('breakpoint', { reason: 'changed', breakpoint: { id, verified: false, message } }),
    );
  }

  private onEngineDeath(reason: string): void {
    if (!this.engine) return;
    this.output(reason, 'important');
    void this.end();
  }

  private output(text: string, category: OutputCategory | 'stderr'): void {
    this.sendEvent(new OutputEvent(`${text}\n`, category));
  }

  private needEngine(): EngineClient {
    if (!this.engine) throw notStarted();
    return this.engine;
  }
}

function absolute(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path);
}
