import { isAbsolute, relative } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import type { FilterSetting } from '../../../runtime/engine/finding';
import type { LaunchBreakpoint } from '../../protocol/launch';
import type { RequestArguments } from '../arguments';
import type { EngineClient } from '../engine/client';
import { readFilters } from './exceptionFilters';
import { FunctionBreakpoint } from './functionBreakpoint';
import { LineBreakpoint } from './lineBreakpoint';
import type { Extras, Requested } from './requested';
import { BreakpointStore } from './store';

/** Answers the requests that set breakpoints, and keeps what was set for a restart. */
export class Breakpoints {
  /** Without debugging nothing stops, whatever is set. */
  off = false;
  private filters: FilterSetting[] = [];
  private readonly store: BreakpointStore;

  constructor(
    /** Folder that holds runtime/models. */
    private readonly root: string,
    private readonly engine: () => EngineClient,
  ) {
    this.store = new BreakpointStore((specs) => engine().call('setProbes', this.off ? [] : specs));
  }

  async setLines(args: RequestArguments): Promise<DebugProtocol.SetBreakpointsResponse['body']> {
    const path = args.object('source').optionalString('path') ?? '';
    const source = this.modelSource(path);
    const wanted = args
      .objects('breakpoints')
      .map((b) => new LineBreakpoint(source, b.number('line'), extrasOf(b)));
    return { breakpoints: await this.set(path, wanted) };
  }

  async setFunctions(args: RequestArguments): Promise<DebugProtocol.SetFunctionBreakpointsResponse['body']> {
    const wanted = args
      .objects('breakpoints')
      .map((b) => new FunctionBreakpoint(b.string('name'), extrasOf(b)));
    return { breakpoints: await this.set('functions', wanted) };
  }

  /** Sets those of the launch configuration. A sentence for each that cannot be set. */
  async setLaunch(breakpoints: readonly LaunchBreakpoint[]): Promise<string[]> {
    const answers = await this.set(
      'launch',
      breakpoints.map(({ name, ...extras }) => new FunctionBreakpoint(name, extras)),
    );
    return answers.flatMap(({ verified, message }, i) =>
      verified || this.off
        ? []
        : [`The breakpoint "${breakpoints[i].name}" of the launch configuration cannot be set: ${message}`],
    );
  }

  private set(group: string, wanted: readonly Requested[]): Promise<DebugProtocol.Breakpoint[]> {
    // Asking for the engine first refuses the request when nothing is loaded, before anything is kept.
    this.engine();
    return this.store.set(group, wanted);
  }

  async setFilters(args: RequestArguments): Promise<DebugProtocol.SetExceptionBreakpointsResponse['body']> {
    const requests = readFilters(args);
    this.filters = requests.flatMap(({ setting }) => (setting ? [setting] : []));
    await this.applyFilters();
    return {
      breakpoints: requests.map(({ problem }) => ({ verified: problem === undefined, message: problem })),
    };
  }

  private async applyFilters(): Promise<void> {
    await this.engine().call('setFilters', this.off ? [] : this.filters);
  }

  async locations(args: RequestArguments): Promise<DebugProtocol.BreakpointLocationsResponse['body']> {
    const source = this.modelSource(args.object('source').optionalString('path') ?? '');
    if (!source) return { breakpoints: [] };
    const from = args.number('line');
    const to = args.optionalNumber('endLine') ?? from;
    const lines = await this.engine().call('lines', source);
    return { breakpoints: lines.filter((l) => l >= from && l <= to).map((line) => ({ line })) };
  }

  /** Sets everything again in a new engine. */
  async applyAll(): Promise<void> {
    await this.store.applyAll();
    await this.applyFilters();
  }

  /** The words that a person knows a breakpoint by. */
  describe(id: number): string {
    return this.store.describe(id);
  }

  /** `runtime/models/mixer.ts` for a path in the package; undefined for any other file. */
  private modelSource(path: string): string | undefined {
    if (!isAbsolute(path)) return undefined;
    const inside = relative(this.root, path).replaceAll('\\', '/');
    return inside.startsWith('runtime/models/') ? inside : undefined;
  }
}

function extrasOf(b: RequestArguments): Extras {
  return {
    condition: b.optionalString('condition'),
    hitCondition: b.optionalString('hitCondition'),
    logMessage: b.optionalString('logMessage'),
  };
}
