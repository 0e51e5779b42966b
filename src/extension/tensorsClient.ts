/** Reads tensors from a session; the panel and the inline values share what was read at a stop. */
import * as vscode from 'vscode';
import {
  TENSOR_DATA_REQUEST,
  TENSORS_REQUEST,
  type TensorDataArguments,
  type TensorDataResponse,
  type TensorsArguments,
  type TensorsResponse,
} from '../protocol/requests';
import type { SessionStatus } from './sessions';

export class TensorsClient {
  private readonly cache = new Map<string, Promise<TensorsResponse>>();
  private cacheStop = '';

  /** The tensors of a frame (the top one without `frameId`) or of the whole run; asked for once per stop. */
  tensors(
    status: SessionStatus,
    args: Omit<TensorsArguments, 'budget'>,
    complete = false,
  ): Promise<TensorsResponse> {
    const key = this.keyOf(status, args, complete);
    const known = this.cache.get(key);
    if (known) return known;
    const budget = complete ? COMPLETE_BUDGET : summaryBudget();
    return this.keep(key, read(status, { ...args, budget }));
  }

  /** The same again for as long: the target remembers what it has summarised and does the next ones. */
  more(status: SessionStatus, args: Omit<TensorsArguments, 'budget'>): Promise<TensorsResponse> {
    return this.keep(this.keyOf(status, args, false), read(status, { ...args, budget: summaryBudget() }));
  }

  private keyOf(status: SessionStatus, args: TensorsArguments, complete: boolean): string {
    const stop = `${status.session.id} ${status.serial}`;
    if (stop !== this.cacheStop) this.cache.clear();
    this.cacheStop = stop;
    return `${args.scope} ${args.frameId} ${complete}`;
  }

  private keep(key: string, reply: Promise<TensorsResponse>): Promise<TensorsResponse> {
    this.cache.set(key, reply);
    reply.catch(() => this.cache.get(key) === reply && this.cache.delete(key));
    return reply;
  }

  async data(status: SessionStatus, args: TensorDataArguments): Promise<TensorDataResponse> {
    return (await status.session.customRequest(TENSOR_DATA_REQUEST, args)) as TensorDataResponse;
  }
}

/** Milliseconds for a person who asked for everything. */
const COMPLETE_BUDGET = 60_000;

function summaryBudget(): number {
  return vscode.workspace.getConfiguration('scanpoint').get('tensors.summaryBudget', 250);
}

async function read(status: SessionStatus, args: TensorsArguments): Promise<TensorsResponse> {
  const reply = (await status.session.customRequest(TENSORS_REQUEST, args)) as
    | Partial<TensorsResponse>
    | undefined;
  if (!Array.isArray(reply?.tensors))
    throw new Error('The debug adapter answered without a list of tensors.');
  return reply as TensorsResponse;
}

/** An error in one line, for a view. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split('\n')[0] || 'The debug adapter gave no reason.';
}
