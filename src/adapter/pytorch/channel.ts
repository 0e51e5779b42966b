import type { Readable, Writable } from 'node:stream';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { isObject } from '../arguments';
import { UserError } from '../errors';
import { frame, MessageReader } from '../framing';

/** What the other side sends on its own account. Called in the order of the messages. */
export interface ChannelEvents {
  event(event: DebugProtocol.Event): void;
  /** A request of debugpy to us; answer it with `respond` or `refuse`. */
  request(request: DebugProtocol.Request): void;
  /** The other side is gone; all that it owed has failed already. */
  closed(): void;
}

interface Pending {
  command: string;
  resolve(body: unknown): void;
  reject(error: Error): void;
  timer?: NodeJS.Timeout;
}

/** Our end of a DAP connection: requests with numbers of its own, each settled exactly once. */
export class DapChannel {
  private seq = 1;
  private readonly pending = new Map<number, Pending>();
  private readonly inbox: Record<string, unknown>[] = [];
  private draining = false;
  private ended?: string;

  constructor(
    input: Readable,
    private readonly output: Writable,
    private readonly events: ChannelEvents,
  ) {
    const reader = new MessageReader({
      message: (message) => this.receive(message),
      lost: (head, why) => this.onLost(head, why),
    });
    input.on('data', (chunk: Buffer) => reader.read(chunk));
    // Its end shows as the close of the stream, or as what the process' owner says.
    input.on('error', () => {});
    output.on('error', () => {});
  }

  /**
   * Sends a request; gives the body of its response. Fails with the sentence of the other side, after `timeout`
   * milliseconds when one is given, or when the connection ends.
   */
  request<T = unknown>(command: string, args?: unknown, timeout?: number): Promise<T> {
    if (this.ended !== undefined) return Promise.reject(new UserError(this.ended));
    const seq = this.seq++;
    return new Promise<T>((resolve, reject) => {
      const pending: Pending = { command, resolve: resolve as (body: unknown) => void, reject };
      if (timeout !== undefined) {
        const seconds = timeout / 1000;
        const late = new UserError(`debugpy did not answer "${command}" within ${seconds} s.`);
        pending.timer = setTimeout(() => this.settle(seq)?.reject(late), timeout);
      }
      this.pending.set(seq, pending);
      this.send({ seq, type: 'request', command, arguments: args });
    });
  }

  respond(request: DebugProtocol.Request, body: unknown = {}): void {
    const { command, seq: request_seq } = request;
    this.send({ seq: this.seq++, type: 'response', request_seq, command, success: true, body });
  }

  refuse(request: DebugProtocol.Request, message: string): void {
    const { command, seq: request_seq } = request;
    this.send({ seq: this.seq++, type: 'response', request_seq, command, success: false, message });
  }

  /** Fails all that is open with the given sentence; later requests fail with it at once. */
  close(why: string): void {
    if (this.ended !== undefined) return;
    this.ended = why;
    for (const seq of [...this.pending.keys()]) this.settle(seq)?.reject(new UserError(why));
    this.events.closed();
  }

  /** Waits until all that has come so far has been handled. */
  async drained(): Promise<void> {
    while (this.draining) await nextTurn();
  }

  private send(message: unknown): void {
    if (this.output.writable) this.output.write(frame(message));
  }

  private receive(message: unknown): void {
    if (!isObject(message)) return;
    this.inbox.push(message);
    if (!this.draining) void this.drain();
  }

  /** One message per turn, so that the answer to a request leaves before the event that came behind it. */
  private async drain(): Promise<void> {
    this.draining = true;
    for (let message = this.inbox.shift(); message; message = this.inbox.shift()) {
      try {
        this.handle(message);
      } catch {
        // It comes from the user's process, and may be anything; the next one may be well.
      }
      await nextTurn();
    }
    this.draining = false;
  }

  private handle(message: Record<string, unknown>): void {
    if (message['type'] === 'response') this.onResponse(message as unknown as DebugProtocol.Response);
    else if (typeof message['event'] === 'string')
      this.events.event(message as unknown as DebugProtocol.Event);
    else if (typeof message['command'] === 'string')
      this.events.request(message as unknown as DebugProtocol.Request);
  }

  private onResponse({ request_seq, success, message, body }: DebugProtocol.Response): void {
    const pending = this.settle(request_seq);
    if (success) pending?.resolve(body);
    else pending?.reject(new UserError(sentenceOf(message, body) ?? `debugpy refused "${pending.command}".`));
  }

  /** A response that cannot be read still ends its request. */
  private onLost(head: string, why: string): void {
    const seq = /"request_seq"\s*:\s*(\d+)/.exec(head)?.[1];
    const pending = seq === undefined ? undefined : this.settle(Number(seq));
    pending?.reject(new UserError(`The answer of debugpy to "${pending.command}" was dropped: ${why}.`));
  }

  private settle(seq: number): Pending | undefined {
    const pending = this.pending.get(seq);
    this.pending.delete(seq);
    clearTimeout(pending?.timer);
    return pending;
  }
}

function sentenceOf(message: unknown, body: unknown): string | undefined {
  if (typeof message === 'string' && message) return message;
  const error = isObject(body) ? body['error'] : undefined;
  return isObject(error) && typeof error['format'] === 'string' ? error['format'] : undefined;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
