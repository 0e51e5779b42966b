import type { DebugProtocol } from '@vscode/debugprotocol';
import type { PyTorchStart } from '../../protocol/pytorchLaunch';
import { cannotLaunch, notStarted, UserError } from '../errors';
import { AgentClient } from './agentClient';
import type { ChannelEvents } from './channel';
import { type Connection, type ConnectionDeps, openConnection } from './connection';
import { deadlineOf, type Forward } from './forward';

/** Attaching injects debugpy into the process first, which may never end. */
const ATTACH_MS = 30_000;
/** Between debugpy's word that it failed and its word why. */
const REASON_MS = 300;
/** What a dialog can show of it. */
const LONGEST_REASON = 300;
/** A process that is busy in native code cannot say that the agent has gone. */
const DETACH_MS = 1_000;
/** A launched program that lives on leaves debugpy waiting for its end; only the message has to arrive. */
const LEAVE_MS = 500;
/** Longest that the end of a session waits for debugpy. */
const GOODBYE_MS = 5_000;

/** The process that is debugged: debugpy in front of it, and our agent in it. */
export class Target {
  readonly agent = new AgentClient((expression, timeout) => this.run(expression, timeout));
  private connection?: Connection;
  private ended?: string;
  /** What debugpy wrote lately; it explains a start that hangs. */
  private lastOutput = '';
  private rejectStart = (_: Error) => {};
  private readonly startFailed: Promise<never>;

  /** `initialized` settles when debugpy can be told of breakpoints. */
  constructor(private readonly initialized: Promise<void>) {
    this.startFailed = new Promise((_, reject) => {
      this.rejectStart = reject;
    });
    this.startFailed.catch(() => {});
  }

  get connected(): boolean {
    return this.connection !== undefined;
  }

  get channel() {
    if (this.ended !== undefined) throw new UserError(this.ended);
    if (!this.connection) throw notStarted();
    return this.connection.channel;
  }

  readonly forward: Forward = async (command, args) =>
    this.channel.request(command, args, deadlineOf(command));

  async open(
    start: PyTorchStart,
    deps: Omit<ConnectionDeps, 'events'>,
    events: ChannelEvents,
  ): Promise<void> {
    this.connection = await openConnection(start, { ...deps, events });
  }

  /** Launches or attaches. Settles when the program runs, which is after `configurationDone`. */
  async start(request: 'launch' | 'attach', args: Record<string, unknown>): Promise<unknown> {
    const timer = request === 'attach' ? setTimeout(() => this.failStart(), ATTACH_MS) : undefined;
    void this.initialized.then(() => clearTimeout(timer));
    try {
      const body = await Promise.race([this.forward(request, args), this.startFailed]);
      this.agent.held = false;
      return body;
    } catch (error) {
      throw cannotLaunch((error as Error).message);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Text for the person, which may be all that debugpy says of a start that failed. */
  onOutput({ output }: DebugProtocol.OutputEvent['body']): void {
    this.lastOutput = (this.lastOutput + output).slice(-20_000);
    // debugpy says so, and then nothing more. The reason comes in the next event.
    if (/^Attach to PID failed/m.test(output)) setTimeout(() => this.failStart(), REASON_MS);
  }

  /** Fails a launch that waits for a terminal which will not come. */
  noTerminal(why: string): void {
    this.rejectStart(new UserError(why));
  }

  private failStart(): void {
    const lines = this.lastOutput.trim().split('\n');
    const why =
      lines.findLast((line) => /ptrace|permitted|denied|could ?n[o']t|no such/i.test(line)) ?? lines.at(-1)!;
    this.rejectStart(
      new UserError(`The process could not be attached to. ${why.trim().slice(0, LONGEST_REASON)}`.trim()),
    );
  }

  /** debugpy is gone, e.g. since the program was killed. */
  end(why: string): void {
    this.ended ??= why;
    this.agent.close(why);
  }

  /** Ends the session. The agent goes first: the program may live on. */
  async disconnect(args: { terminateDebuggee?: boolean } = {}): Promise<void> {
    if (this.connection && this.ended === undefined) {
      await this.agent.callEarly('detach', {}, () => {}, DETACH_MS).catch(() => {});
      const leaves = args.terminateDebuggee === false;
      await this.connection.channel
        .request('disconnect', args, leaves ? LEAVE_MS : GOODBYE_MS)
        .catch(() => {});
    }
    this.close();
  }

  close(): void {
    this.end('The debug session has ended.');
    this.connection?.channel.close('The debug session has ended.');
    this.connection?.wire.close();
  }

  /** Runs one line of Python in the process, without a frame. */
  async run(expression: string, timeout: number): Promise<unknown> {
    return this.channel.request('evaluate', { expression, context: 'repl' }, timeout);
  }
}
