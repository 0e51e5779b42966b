import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';

/** Root of the checkout. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The built adapter, as any DAP client starts it. */
const ADAPTER = `${ROOT}dist/adapter.js`;

const TIMEOUT_MS = 20_000;

type Message = DebugProtocol.Request | DebugProtocol.Response | DebugProtocol.Event;

/** A DAP client for tests: sends requests, keeps everything that came back in order. */
export class DapClient {
  readonly process: ChildProcess;
  /** All messages from the adapter, in order. */
  readonly received: Message[] = [];
  private seq = 1;
  private buffer = Buffer.alloc(0);
  private readonly waiting = new Set<() => void>();
  private exited?: number | null;

  constructor(command = process.execPath, args: readonly string[] = [ADAPTER]) {
    this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.process.stdout!.on('data', (chunk: Buffer) => this.read(chunk));
    this.process.on('exit', (code) => {
      this.exited = code;
      this.wake();
    });
    // An adapter that has gone makes writes fail; the tests see that as a missing answer.
    this.process.stdin!.on('error', () => {});
  }

  /** Sends a request without waiting; gives its number. */
  send(command: string, args?: unknown): number {
    const seq = this.seq++;
    this.write(JSON.stringify({ seq, type: 'request', command, arguments: args }));
    return seq;
  }

  /** Writes one framed message as it is. */
  write(json: string): void {
    this.process.stdin!.write(`Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
  }

  /** The response to a request, whether it succeeded or not. */
  response(seq: number): Promise<DebugProtocol.Response> {
    return this.find(
      (m): m is DebugProtocol.Response =>
        m.type === 'response' && (m as DebugProtocol.Response).request_seq === seq,
      `an answer to request ${seq}`,
    );
  }

  /** Sends a request and gives its body. Throws with the adapter's message when it fails. */
  async request<T = unknown>(command: string, args?: unknown): Promise<T> {
    const response = await this.response(this.send(command, args));
    if (!response.success) throw new Error(response.message);
    return response.body as T;
  }

  /** The first event of a kind after `from` messages. */
  event<T extends DebugProtocol.Event = DebugProtocol.Event>(
    name: string,
    from = 0,
    matches: (event: T) => boolean = () => true,
  ): Promise<T> {
    return this.find(
      (m, i): m is T => i >= from && m.type === 'event' && (m as T).event === name && matches(m as T),
      `the event "${name}"`,
    );
  }

  private async find<T extends Message>(
    matches: (m: Message, i: number) => m is T,
    what: string,
  ): Promise<T> {
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      const found = this.received.find(matches);
      if (found) return found as T;
      if (this.exited !== undefined)
        throw new Error(`The adapter ended with ${this.exited} before ${what} came.`);
      const left = deadline - Date.now();
      if (left <= 0)
        throw new Error(
          `No sign of ${what} after ${TIMEOUT_MS} ms. Last: ${JSON.stringify(this.received.slice(-3))}`,
        );
      await this.nextMessage(left);
    }
  }

  private nextMessage(timeout: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeout);
      this.waiting.add(done);
    });
  }

  private wake(): void {
    for (const done of [...this.waiting]) done();
  }

  private read(chunk: Buffer): void {
    this.buffer = Buffer.concat([this.buffer, chunk]);
    for (;;) {
      const head = this.buffer.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/Content-Length: (\d+)/.exec(this.buffer.toString('utf8', 0, head))![1]);
      if (this.buffer.length < head + 4 + length) return;
      this.received.push(JSON.parse(this.buffer.toString('utf8', head + 4, head + 4 + length)));
      this.buffer = this.buffer.subarray(head + 4 + length);
      this.wake();
    }
  }

  /** Ends the adapter. */
  async dispose(): Promise<void> {
    if (this.exited !== undefined) return;
    const gone = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill();
    await gone;
  }
}
