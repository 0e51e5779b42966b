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
  private cacheKey = '';

  /** The tensors of a frame (the top one without `frameId`) or of the whole run; asked for once per stop. */
  tensors(
    status: SessionStatus,
    args: Omit<TensorsArguments, 'budget'>,
    complete = false,
  ): Promise<TensorsResponse> {
    const stop = `${status.session.id} ${status.serial}`;
    if (stop !== this.cacheKey) this.cache.clear();
    this.cacheKey = stop;
    const key = `${args.scope} ${args.frameId} ${complete}`;
    const known = this.cache.get(key);
    if (known) return known;
    const budget = complete ? COMPLETE_BUDGET : summaryBudget();
    const reply = read(status, { ...args, budget });
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
