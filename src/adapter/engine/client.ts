import { Worker } from 'node:worker_threads';
import type { Engine } from '../../../runtime/engine/engine';
import { internalFault, UserError } from '../errors';
import {
  type Call,
  type EngineEvent,
  type EngineMethod,
  PAUSE,
  type Reply,
  WAITING,
  type WorkerSetup,
} from './messages';

type Result<M extends EngineMethod> = Awaited<ReturnType<Engine[M]>>;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** The engine in its own thread, so that the adapter answers while a model runs. */
export class EngineClient {
  private readonly worker: Worker;
  private readonly control = new Int32Array(new SharedArrayBuffer(8));
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;

  /** `script` is the bundled thread; `root` holds runtime/models. */
  constructor(
    script: string,
    root: string,
    onEvent: (event: EngineEvent) => void,
    onDeath: (reason: string) => void,
  ) {
    const workerData: WorkerSetup = { control: this.control.buffer as SharedArrayBuffer, root };
    this.worker = new Worker(script, { workerData, stdout: true, stderr: true });
    this.worker.on('message', (message: Reply | EngineEvent) =>
      'event' in message ? onEvent(message) : this.settle(message),
    );
    this.worker.on('error', (error) => this.die(`The engine failed: ${error.message}`, onDeath));
    this.worker.on('exit', () => this.die('The engine has ended.', () => {}));
  }

  /** Calls a method of the engine. Rejects with a `UserError` when the engine refuses with a sentence. */
  call<M extends EngineMethod>(method: M, ...args: Parameters<Engine[M]>): Promise<Result<M>> {
    const id = this.nextId++;
    return new Promise<unknown>((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      Atomics.add(this.control, WAITING, 1);
      const message: Call = { id, method, args };
      this.worker.postMessage(message);
    }) as Promise<Result<M>>;
  }

  /** Asks for a pause before the next op. */
  pause(): void {
    Atomics.store(this.control, PAUSE, 1);
  }

  /** A pause that was asked for but not taken is dropped. */
  clearPause(): void {
    Atomics.store(this.control, PAUSE, 0);
  }

  async dispose(): Promise<void> {
    await this.worker.terminate();
  }

  private settle(reply: Reply): void {
    const waiting = this.pending.get(reply.id);
    this.pending.delete(reply.id);
    if (!waiting) return;
    if ('value' in reply) waiting.resolve(reply.value);
    else waiting.reject(reply.expected ? new UserError(reply.error) : internalFault(reply.error));
  }

  private die(reason: string, onDeath: (reason: string) => void): void {
    const waiting = [...this.pending.values()];
    this.pending.clear();
    for (const { reject } of waiting) reject(new UserError(reason));
    onDeath(reason);
  }
}
