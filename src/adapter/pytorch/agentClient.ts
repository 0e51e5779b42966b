import { isObject } from '../arguments';
import { UserError } from '../errors';

/** What a person waits for at a stop. */
const DEADLINE_MS = 5_000;
/** What a client may take from the first breakpoint to the start of the program. */
const HELD_MS = 60_000;

/** Gets a reply that was held back. */
export type Later<T> = (reply: Promise<T>) => void;

/** Runs one line of Python in the process, without a frame. */
export type RunPython = (expression: string, timeout: number) => Promise<unknown>;

/** A call on its way: whether debugpy ran it, and what the agent says. */
interface Sent {
  accepted: Promise<void>;
  reply: Promise<unknown>;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** The call of an agent method as one line of Python; ASCII only, so that no encoding on the way matters. */
export function callExpression(id: number, method: string, args: unknown): string {
  const text = JSON.stringify({ id, method, args }).replace(
    /[\u007f-\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `call(${JSON.stringify(text)})`;
}

/** Our part in the user's process: calls go through debugpy's `evaluate`, replies come as events. */
export class AgentClient {
  /** False until the agent has said that it is there, and again once it cannot be reached. */
  alive = false;
  /** debugpy holds events back until the program runs, replies among them. */
  held = true;
  private next = 1;
  private readonly pending = new Map<number, Pending>();

  constructor(private readonly run: RunPython) {}

  /**
   * Loads the package in `folder`, which must hold `scanpoint_agent`, and starts it. Throws when it cannot be loaded;
   * what it says later goes to `later`.
   */
  async start(folder: string, settings: unknown, deadline: number, later: Later<unknown>): Promise<void> {
    const path = JSON.stringify(folder);
    const load = `import sys; sys.path.append(${path}) if ${path} not in sys.path else None; import scanpoint_agent as _a`;
    const sent = this.send((call) => `${load}; _a.${call}; del _a`, 'start', { settings }, deadline);
    await this.early(sent, later);
    this.alive = true;
  }

  /** Calls a method. Throws the agent's sentence, or one of ours when it does not answer in time. */
  call<T>(method: string, args: unknown = {}, deadline = DEADLINE_MS): Promise<T> {
    if (!this.alive) return Promise.reject(noAgent());
    return this.send(callLine, method, args, deadline).reply as Promise<T>;
  }

  /**
   * Calls a method before the program runs, too. Gives undefined when the reply is held back; it goes to `later`.
   */
  async callEarly<T>(
    method: string,
    args: unknown,
    later: Later<T>,
    deadline = DEADLINE_MS,
  ): Promise<T | undefined> {
    if (!this.alive) throw noAgent();
    const sent = this.send(callLine, method, args, deadline);
    return this.early(sent, later as Later<unknown>) as Promise<T | undefined>;
  }

  /** A call whose failure means that debugpy's own answer is as good. */
  async attempt<T>(method: string, args: unknown, deadline: number): Promise<T | undefined> {
    if (!this.alive || this.held) return undefined;
    return this.call<T>(method, args, deadline).catch(() => undefined);
  }

  /** A reply of the agent; anything else is dropped. */
  onReply(reply: unknown): void {
    if (!isObject(reply)) return;
    const pending = this.settle(Number(reply['id']));
    if (typeof reply['error'] === 'string') pending?.reject(new UserError(reply['error']));
    else pending?.resolve(reply['result']);
  }

  /** Fails all that is open. */
  close(why: string): void {
    this.alive = false;
    for (const id of [...this.pending.keys()]) this.settle(id)?.reject(new UserError(why));
  }

  private async early({ accepted, reply }: Sent, later: Later<unknown>): Promise<unknown> {
    if (!this.held) return reply;
    reply.catch(() => {});
    await accepted;
    later(reply);
    return undefined;
  }

  private send(line: (call: string) => string, method: string, args: unknown, deadline: number): Sent {
    const id = this.next++;
    const reply = new Promise<unknown>((resolve, reject) => {
      const late = () => this.settle(id)?.reject(tooLate(method));
      // Held back replies come with the program's start, which is up to the client.
      const timer = setTimeout(late, this.held ? HELD_MS : deadline);
      this.pending.set(id, { resolve, reject, timer });
    });
    const accepted = this.run(line(callExpression(id, method, args)), deadline).then(
      () => {},
      (error) => {
        this.settle(id)?.reject(error);
        throw error;
      },
    );
    accepted.catch(() => {});
    return { accepted, reply };
  }

  private settle(id: number): Pending | undefined {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    clearTimeout(pending?.timer);
    return pending;
  }
}

const callLine = (call: string): string => `__import__("scanpoint_agent").${call}`;

const noAgent = (): UserError =>
  new UserError('Scanpoint is not in this process, only plain debugging works.');

const tooLate = (method: string): UserError =>
  new UserError(`Scanpoint's part in the process did not answer "${method}" in time.`);
