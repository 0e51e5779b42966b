import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Frame } from '../../runtime/engine/frames';
import type {
  SitesResponse,
  TensorDataArguments,
  TensorDataResponse,
  TensorsArguments,
  TensorsResponse,
} from '../protocol/requests';
import type { RequestArguments } from './arguments';
import type { EngineClient } from './engine/client';
import { goneFrame, wrongArgument } from './errors';
import { References } from './variables/references';
import { ScopeContainer } from './variables/scopeVariables';
import { entryVariable, oneLine } from './variables/tensorVariable';
import type { Container, VariableContext } from './variables/variable';

/** What a person sees while the model stands still: stack, scopes, variables, expressions, tensors. */
export class StoppedView implements VariableContext {
  private readonly references = new References();
  private readonly frameIds = new Map<string, number>();
  private frames: Frame[] = [];

  constructor(
    /** Folder that holds runtime/models. */
    private readonly root: string,
    private readonly currentEngine: () => EngineClient,
  ) {}

  get engine(): EngineClient {
    return this.currentEngine();
  }

  /** Reads the call stack of a new stop. */
  async refresh(): Promise<void> {
    this.frames = await this.engine.call('frames');
  }

  levelOf(frameKey: string): number {
    const level = this.frames.findIndex((f) => f.key === frameKey);
    if (level < 0) throw goneFrame();
    return level;
  }

  reference(container: Container): number {
    return this.references.numberOf(container);
  }

  stackTrace(args: RequestArguments): DebugProtocol.StackTraceResponse['body'] {
    const start = Math.max(0, args.optionalNumber('startFrame') ?? 0);
    const levels = args.optionalNumber('levels') || this.frames.length;
    const stackFrames = this.frames.slice(start, start + levels).map((frame) => this.stackFrame(frame));
    return { stackFrames, totalFrames: this.frames.length };
  }

  private stackFrame({ key, name, place }: Frame): DebugProtocol.StackFrame {
    const id = this.frameIds.get(key) ?? this.frameIds.size + 1;
    this.frameIds.set(key, id);
    if (!place) return { id, name, line: 0, column: 0, presentationHint: 'subtle' };
    const path = join(this.root, place.source);
    return {
      id,
      name,
      line: place.line,
      column: place.column,
      source: { name: place.source.split('/').at(-1), path },
    };
  }

  async scopes(args: RequestArguments): Promise<DebugProtocol.ScopesResponse['body']> {
    const frame = this.frame(args.number('frameId'));
    const names = await this.engine.call('scopes', this.levelOf(frame.key));
    const scopes = names.map((name) => ({
      name,
      variablesReference: this.reference(new ScopeContainer(frame.key, name)),
      expensive: false,
    }));
    return { scopes };
  }

  async variables(args: RequestArguments): Promise<DebugProtocol.VariablesResponse['body']> {
    const container = this.references.containerOf(args.number('variablesReference'));
    const filter = args.optionalString('filter');
    if (filter !== undefined && filter !== 'indexed' && filter !== 'named') {
      throw wrongArgument('variables', 'filter', '"indexed" or "named"');
    }
    const start = Math.max(0, args.optionalNumber('start') ?? 0);
    const count = Math.max(0, args.optionalNumber('count') ?? 0);
    return { variables: await container.children(this, { filter, start, count }) };
  }

  async evaluate(args: RequestArguments): Promise<DebugProtocol.EvaluateResponse['body']> {
    const expression = args.string('expression');
    const frameId = args.optionalNumber('frameId');
    const level = frameId === undefined ? 0 : this.levelOf(this.frame(frameId).key);
    // What is copied or asked for in the console is wanted in full; a watch wants to be read at a glance.
    const exact = ['clipboard', 'repl'].includes(args.optionalString('context') ?? '');
    const entry = await this.engine.call('evaluate', expression, level, exact);
    const { value, type, variablesReference, namedVariables, indexedVariables } = entryVariable(
      entry,
      this,
      expression,
    );
    const result = entry.kind === 'tensor' ? oneLine(entry.summary) : value;
    return { result, type, variablesReference, namedVariables, indexedVariables };
  }

  tensors(args: RequestArguments): Promise<TensorsResponse> {
    const scope = args.optionalString('scope') === 'run' ? 'run' : 'site';
    const request: TensorsArguments = { scope, budget: args.optionalNumber('budget') };
    const frameId = args.optionalNumber('frameId');
    return this.engine.call(
      'tensors',
      request,
      frameId === undefined ? 0 : this.levelOf(this.frame(frameId).key),
    );
  }

  tensorData(args: RequestArguments): Promise<TensorDataResponse> {
    const numbers = [
      'stop',
      'rowAxis',
      'columnAxis',
      'rowStart',
      'rowCount',
      'columnStart',
      'columnCount',
      'maxRows',
      'maxColumns',
    ];
    const request: Record<string, unknown> = { id: args.string('id') };
    for (const name of numbers) request[name] = args.optionalNumber(name);
    const index = args.raw('index');
    if (index !== undefined) {
      if (!Array.isArray(index) || index.some((i) => !Number.isInteger(i)))
        throw wrongArgument('mamba/tensorData', 'index', 'a list of whole numbers');
      request['index'] = index;
    }
    return this.engine.call('tensorData', request as unknown as TensorDataArguments);
  }

  sites(): Promise<SitesResponse> {
    return this.engine.call('sites');
  }

  private frame(id: number): Frame {
    const key = [...this.frameIds].find(([, known]) => known === id)?.[0];
    const frame = this.frames.find((f) => f.key === key);
    if (!frame) throw goneFrame();
    return frame;
  }
}
