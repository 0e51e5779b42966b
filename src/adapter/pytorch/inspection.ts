import type { DebugProtocol } from '@vscode/debugprotocol';
import type { RequestArguments } from '../arguments';
import type { AgentClient } from './agentClient';
import type { Forward } from './forward';
import { type Handle, isOurs, OwnReferences, type Root, SCAN_FRAME } from './references';
import type { Stepping } from './stepping';

/** How long debugpy's answer waits for a better one; then it goes out as it is. */
const BETTER_MS = 1_500;

/** A variable as the agent describes it. */
interface Described {
  name: string;
  value: string;
  type?: string;
  children?: boolean;
  indexed?: number;
  /** The agent's id of a tensor at a stop. */
  tensorId?: string;
}

/** Instead of debugpy's description of a variable. */
interface Rewritten {
  value: string;
  type?: string;
  /** The agent lists the children too. */
  hasOwnChildren?: boolean;
  indexed?: number;
}

interface AgentScope {
  name: string;
  id: string;
}

/** What a person sees of the stopped process: debugpy's answers, with tensors described by the agent. */
export class Inspection {
  private readonly references = new OwnReferences();
  /** debugpy's numbers of values whose children the agent lists. */
  private readonly described = new Set<number>();
  /** The frame below that of an open scan. */
  private scanCaller?: number;

  constructor(
    private readonly forward: Forward,
    private readonly agent: AgentClient,
    private readonly stepping: Stepping,
  ) {}

  /** The program runs on: nothing shown so far is certain any more. */
  resumed(): void {
    this.described.clear();
    this.references.clear();
  }

  /** debugpy's frame for a client's, since that of a scan is only ours. */
  frameOf(id: number): number {
    return id === SCAN_FRAME && this.scanCaller !== undefined ? this.scanCaller : id;
  }

  async stackTrace(args: RequestArguments, raw: object): Promise<DebugProtocol.StackTraceResponse['body']> {
    const { scan } = this.stepping;
    if (scan?.threadId !== args.number('threadId')) return this.forward('stackTrace', raw);
    const start = Math.max(0, args.optionalNumber('startFrame') ?? 0);
    const levels = args.optionalNumber('levels') || Number.POSITIVE_INFINITY;
    const below = await this.forward<DebugProtocol.StackTraceResponse['body']>('stackTrace', {
      threadId: scan.threadId,
    });
    const [top] = below.stackFrames;
    this.scanCaller = top?.id;
    const frame = { ...top, id: SCAN_FRAME, name: scan.title };
    const all = [frame, ...below.stackFrames];
    return { stackFrames: all.slice(start, start + levels), totalFrames: all.length };
  }

  async scopes(args: RequestArguments): Promise<DebugProtocol.ScopesResponse['body']> {
    const id = args.number('frameId');
    const frameId = this.frameOf(id);
    const [ours, theirs] = await Promise.all([
      this.agent.attempt<AgentScope[]>('scopes', { frameId }, BETTER_MS),
      this.forward<DebugProtocol.ScopesResponse['body']>('scopes', { frameId }),
    ]);
    const listed = (ours ?? []).filter(({ name }) => (name === 'Step') === (id === SCAN_FRAME));
    const scopes = listed.map((scope) => ({
      name: scope.name,
      variablesReference: this.references.numberOf({ kind: 'entries', id: scope.id }),
      expensive: false,
    }));
    return { scopes: id === SCAN_FRAME ? scopes : [...scopes, ...theirs.scopes] };
  }

  async variables(args: RequestArguments, raw: object): Promise<DebugProtocol.VariablesResponse['body']> {
    const reference = args.number('variablesReference');
    const page = {
      filter: args.optionalString('filter'),
      start: args.optionalNumber('start'),
      count: args.optionalNumber('count'),
    };
    if (isOurs(reference))
      return { variables: await this.ofHandle(this.references.handleOf(reference), page) };
    if (this.described.has(reference)) {
      const children = await this.agent.attempt<Described[] | null>(
        'variables',
        { reference, ...page },
        BETTER_MS,
      );
      if (children) return { variables: this.listed(children, { reference }, []) };
    }
    const body = await this.forward<DebugProtocol.VariablesResponse['body']>('variables', raw);
    return { ...body, variables: await this.rewritten(body.variables, reference) };
  }

  async evaluate(args: RequestArguments, raw: object): Promise<DebugProtocol.EvaluateResponse['body']> {
    const frame = args.optionalNumber('frameId');
    const request = frame === undefined ? raw : { ...raw, frameId: this.frameOf(frame) };
    const body = await this.forward<DebugProtocol.EvaluateResponse['body']>('evaluate', request);
    const context = args.optionalString('context');
    // The console and the clipboard get what Python prints.
    if (!body.variablesReference || (context !== 'hover' && context !== 'watch')) return body;
    const better = await this.rewrite(body.variablesReference, ['']);
    const own = better?.[''];
    if (!own) return body;
    if (own.hasOwnChildren) this.described.add(body.variablesReference);
    return { ...body, result: own.value, type: own.type ?? body.type, ...counts(own.indexed) };
  }

  private async ofHandle(handle: Handle, page: object): Promise<DebugProtocol.Variable[]> {
    if (handle.kind === 'entries') {
      const entries = await this.agent.call<Described[]>('entries', { id: handle.id });
      return entries.map((entry) => this.variable(entry, entry.tensorId && { id: entry.tensorId }, []));
    }
    const { root, names } = handle;
    const children = await this.agent.call<Described[]>('children', { path: { ...root, names }, ...page });
    return this.listed(children, root, names);
  }

  private listed(children: Described[], root: Root, names: string[]): DebugProtocol.Variable[] {
    return children.map((child) => this.variable(child, root, [...names, child.name]));
  }

  private variable(
    { name, value, type, children, indexed }: Described,
    root: Root | undefined | '',
    names: string[],
  ): DebugProtocol.Variable {
    const open = children && root;
    const variablesReference = open ? this.references.numberOf({ kind: 'children', root, names }) : 0;
    return { name, value, type, ...counts(indexed), variablesReference };
  }

  private async rewritten(
    variables: DebugProtocol.Variable[],
    reference: number,
  ): Promise<DebugProtocol.Variable[]> {
    // Numbers and texts have no children and are shown well; debugpy's groups have no type.
    const names = variables.filter((v) => v.variablesReference > 0 && v.type).map((v) => v.name);
    const better = names.length > 0 ? await this.rewrite(reference, names) : undefined;
    if (!better) return variables;
    return variables.map((v) => {
      const own = Object.hasOwn(better, v.name) ? better[v.name] : undefined;
      if (!own) return v;
      if (own.hasOwnChildren) this.described.add(v.variablesReference);
      return { ...v, value: own.value, type: own.type ?? v.type, ...counts(own.indexed) };
    });
  }

  private async rewrite(reference: number, names: string[]): Promise<Record<string, Rewritten> | undefined> {
    return this.agent.attempt('rewrite', { reference, names }, BETTER_MS);
  }
}

/** A client pages elements; beside them it asks for named children only when it is told that there are some. */
function counts(indexed: number | undefined): { indexedVariables?: number; namedVariables?: number } {
  return indexed ? { indexedVariables: indexed, namedVariables: 1 } : {};
}
