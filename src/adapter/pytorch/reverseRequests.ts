import type { DebugProtocol } from '@vscode/debugprotocol';
import { isObject } from '../arguments';
import { releaseChild } from './releaseChild';
import type { Target } from './target';

export interface ReverseDeps {
  /** Asks the client. */
  ask(command: string, args: unknown): Promise<DebugProtocol.Response>;
  /** Whether the client can start a session for a child process. */
  startsSessions(): boolean;
  /** Our own arguments, which debugpy has not seen. */
  forChildren(): Record<string, unknown>;
  say(text: string): void;
}

/** What debugpy asks of the client: a terminal for the program, and a session for each child process. */
export class ReverseRequests {
  constructor(
    private readonly target: Target,
    private readonly deps: ReverseDeps,
  ) {}

  onRequest(request: DebugProtocol.Request): void {
    const { channel } = this.target;
    if (request.command === 'startDebugging') {
      // debugpy does nothing else until it is answered.
      channel.respond(request);
      this.onChild(request.arguments?.configuration);
    } else if (request.command === 'runInTerminal') void this.runInTerminal(request);
    else channel.refuse(request, `Scanpoint does not know "${request.command}".`);
  }

  /** Hands a child process to the client as a session of ours, or else lets it go. */
  onChild(configuration: unknown): void {
    if (isObject(configuration)) void this.startChild(configuration);
  }

  private async startChild(configuration: Record<string, unknown>): Promise<void> {
    if (this.deps.startsSessions()) {
      const child = { ...configuration, ...this.deps.forChildren(), request: 'attach' };
      const args = { request: 'attach', configuration: child };
      const { success, message } = await this.deps.ask('startDebugging', args);
      if (success) return;
      this.deps.say(`A child process runs without being debugged: ${message ?? 'the client refused it'}.`);
    }
    await releaseChild(configuration).catch(() => {});
  }

  private async runInTerminal(request: DebugProtocol.Request): Promise<void> {
    const { channel } = this.target;
    const { success, body, message } = await this.deps.ask(request.command, request.arguments);
    if (success) return channel.respond(request, body);
    const why = message || 'The client did not start the terminal.';
    channel.refuse(request, why);
    // debugpy does not look at the answer and would wait for the program.
    this.target.noTerminal(why);
  }
}
