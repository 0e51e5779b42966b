import { BreakpointSpecError } from '../../src/protocol/breakpointSpec';
import { formatNumber } from '../../src/protocol/numbers';
import type {
  GradientsResponse,
  SitesResponse,
  TensorDataArguments,
  TensorDataResponse,
  TensorsArguments,
  TensorsResponse,
} from '../../src/protocol/requests';
import { MemoryError } from '../kernels/native/memory';
import { Debugger, type OutputCategory, type Stop } from './debugger';
import type { FilterSetting } from './finding';
import { type Frame, framesAt } from './frames';
import { Generation } from './generation';
import { answerGeneration } from './generationAnswer';
import { parseGenerationCall } from './generationCall';
import { inputTokens } from './generationTokens';
import { gradientsOf } from './gradientHealth';
import { type Entry, Inspector, type ScopeName } from './inspector';
import { type Loaded, type LoadRequest, load } from './load';
import { linesOf, type ProbeResult, type ProbeSpec } from './probes';
import { resultLines } from './result';
import { startThreads } from './threads';
import type { StepMode } from './timeline';

/** What the engine tells on its own. */
export interface EngineListener {
  stopped(stop: Stop): void;
  /** The program has run to its end. */
  finished(): void;
  output(text: string, category: OutputCategory): void;
  probeFailed(id: number, message: string): void;
  progress(step: string): void;
  /** Lets messages in; true when a pause was asked for. */
  breathe(): Promise<boolean> | boolean;
}

/** What is known of a model before it runs. */
export interface ModelInfo {
  name: string;
  parameters: number;
  ops: number;
  notes: string[];
}

/**
 * The embedded target: loads a model, runs it under breakpoints, and answers questions while it stands still.
 * Knows nothing of DAP; every method can be called from another thread by name.
 */
export class Engine {
  private loaded?: Loaded;
  private debugger_?: Debugger;
  private inspector_?: Inspector;
  private generation?: Generation;
  /** Counts what makes generation that is still under way end. */
  private turn = 0;
  private started = 0;

  constructor(
    private readonly listener: EngineListener,
    private readonly readSource: (source: string) => string | undefined,
    /** Folder of the SIMD kernels. */
    private readonly kernels: string,
  ) {}

  async load(request: LoadRequest & { threads?: number }): Promise<ModelInfo> {
    this.loaded = await load(request, this.readSource, async (step) => {
      this.listener.progress(step);
      await this.listener.breathe();
    });
    const { state, notes } = this.loaded;
    startThreads(state.program, this.kernels, request.threads);
    this.debugger_ = new Debugger(state, this.listener);
    this.inspector_ = new Inspector(state);
    this.generation = Generation.of(this.loaded);
    const { name, parameterCount, ops } = state.program;
    return { name, parameters: parameterCount, ops: ops.length, notes };
  }

  setProbes(specs: ProbeSpec[]): ProbeResult[] {
    return this.debugger.setProbes(specs);
  }

  setFilters(filters: FilterSetting[]): void {
    this.debugger.setFilters(filters);
  }

  /** Lines of a source on which a breakpoint can be set. */
  lines(source: string): number[] {
    return linesOf(this.current.state.program, source);
  }

  /** Starts the run; stops are told to the listener. */
  start(stopOnEntry: boolean): void {
    this.started = performance.now();
    this.go(() => (stopOnEntry ? this.debugger.toEntry() : this.debugger.resume('continue')));
  }

  resume(mode: StepMode): void {
    this.inspector.left();
    this.go(() => this.debugger.resume(mode));
  }

  /** Moves an open scan to a time step; the stop is told to the listener. Throws a `RangeError`. */
  seekScan(t: number): void {
    this.stop(this.debugger.seek(t));
  }

  private go(run: () => Promise<Stop | undefined>): void {
    this.turn++;
    void run().then(
      (stop) => (stop ? this.stop(stop) : this.finish()),
      (error: unknown) => {
        const fault = `The run ended because of a fault in Scanpoint: ${error instanceof Error ? error.stack : error}`;
        this.listener.output(error instanceof MemoryError ? error.message : fault, 'important');
        this.listener.finished();
      },
    );
  }

  private stop(stop: Stop): void {
    this.inspector.moved();
    this.listener.stopped(stop);
  }

  private finish(): void {
    const { state } = this.current;
    const seconds = (performance.now() - this.started) / 1000;
    for (const line of resultLines(this.current)) this.listener.output(line, 'stdout');
    this.listener.output(`${state.program.name} finished after ${formatNumber(seconds)} s.`, 'console');
    this.listener.finished();
  }

  frames(): Frame[] {
    return framesAt(this.current.state);
  }

  scopes(level: number): ScopeName[] {
    return this.inspector.scopes(level);
  }

  entries(level: number, scope: ScopeName): Entry[] {
    const entries = this.inspector.entries(level, scope);
    return scope === 'Run' ? [...entries, ...inputTokens(this.generation)] : entries;
  }

  children(id: string, start: number, count: number): Entry[] {
    return this.inspector.children(id, start, count);
  }

  evaluate(expression: string, level: number, exact: boolean): Entry {
    return this.inspector.evaluate(expression, level, exact);
  }

  /** Answers `generate(20)`; ends early when a pause is asked for, the run goes on, or it is asked for anew. */
  async generate(text: string): Promise<string> {
    const turn = ++this.turn;
    return answerGeneration(this.generation, parseGenerationCall(text), {
      progress: (step) => this.listener.progress(step),
      breathe: async () => (await this.listener.breathe()) || turn !== this.turn,
    });
  }

  tensors(args: TensorsArguments, level: number): TensorsResponse {
    return this.inspector.tensors(args, level);
  }

  tensorData(args: TensorDataArguments): TensorDataResponse {
    return this.inspector.tensorData(args);
  }

  gradients(): GradientsResponse {
    return { gradients: gradientsOf(this.current.state) };
  }

  sites(): SitesResponse {
    return this.inspector.sites();
  }

  private get current(): Loaded {
    if (!this.loaded) throw new BreakpointSpecError('No model is loaded yet.');
    return this.loaded;
  }

  private get debugger(): Debugger {
    if (!this.debugger_) throw new BreakpointSpecError('No model is loaded yet.');
    return this.debugger_;
  }

  private get inspector(): Inspector {
    if (!this.inspector_) throw new BreakpointSpecError('No model is loaded yet.');
    return this.inspector_;
  }
}
