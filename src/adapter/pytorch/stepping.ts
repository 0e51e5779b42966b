import { Event, StoppedEvent } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import type { RequestArguments } from '../arguments';
import { UserError } from '../errors';
import type { AgentClient } from './agentClient';
import { type AgentStop, AgentStops } from './agentStop';
import type { Forward } from './forward';
import { type ScanMove, ScanReplay } from './scanReplay';

export interface SteppingEvents {
  send(event: DebugProtocol.Event): void;
  say(text: string): void;
  /** Conditions of the `selective_scan:step` breakpoints; an empty one always holds. */
  stepConditions(): string[];
}

type Step = 'next' | 'stepIn' | 'stepOut' | 'stepBack' | 'continue' | 'reverseContinue';

/** A line of code that a thread stands on. */
interface Place {
  path?: string;
  line: number;
  depth: number;
}

/** Steps, in Python and in an open scan, and the stops that they lead to. */
export class Stepping {
  readonly stops = new AgentStops();
  scan?: ScanReplay;
  /** Where `next` at the exit of a boundary will first stop, which a person has seen already. */
  private seen?: { thread: number; place: Place };
  private continuing?: Promise<unknown>;

  constructor(
    private readonly forward: Forward,
    private readonly agent: AgentClient,
    private readonly events: SteppingEvents,
  ) {}

  async step(command: Step, args: RequestArguments, raw: unknown): Promise<unknown> {
    const thread = args.number('threadId');
    if (this.scan?.threadId === thread) return this.inScan(this.scan, command, raw);
    const stop = this.stops.at(thread);
    if (command === 'stepBack' || command === 'reverseContinue') {
      throw new UserError('Only a scan can be stepped back; stop at selective_scan and step into it.');
    }
    if (command === 'stepIn' && stop?.phase === 'entry' && args.raw('targetId') === undefined)
      return this.intoBoundary(stop, raw);
    if (command === 'next' && stop?.phase === 'exit') await this.rememberCaller(thread);
    // Another thread's step lets all run, also the one before the scan.
    return this.leave(command, raw);
  }

  /** debugpy's event of a stop; nothing when the person shall not see it. */
  async stopped(event: DebugProtocol.StoppedEvent): Promise<DebugProtocol.StoppedEvent | undefined> {
    const thread = event.body.threadId ?? 0;
    const seen = this.seen?.thread === thread ? this.seen.place : undefined;
    this.seen = undefined;
    const body = this.stops.enrich(event.body);
    if (seen && !this.stops.at(thread) && body.reason === 'step' && (await this.standsAt(thread, seen))) {
      await this.forward('next', { threadId: thread });
      return undefined;
    }
    return Object.assign(event, { body });
  }

  /** The custom request that goes to a time step. */
  async seek(t: number): Promise<void> {
    if (!this.scan) throw new UserError('No scan is open; stop at selective_scan and step into it.');
    if (!Number.isInteger(t) || t < 0 || t >= this.scan.length)
      throw new UserError(`The scan has the time steps 0 to ${this.scan.length - 1}.`);
    this.announce(this.scan, 'goto', (await this.scan.seek(t)).text);
  }

  /** Sends a request that lets the program run. */
  private resume(command: string, raw: unknown): Promise<unknown> {
    // debugpy may lose track of its threads when a second one comes before it has answered the first.
    if (command === 'continue' && this.continuing) return this.continuing;
    this.stops.resumed();
    const sent = this.forward(command, raw);
    if (command === 'continue') {
      this.continuing = sent;
      const over = () => {
        this.continuing = undefined;
      };
      sent.then(over, over);
    }
    return sent;
  }

  /** Into a scan its recurrence is opened; into anything else the first line of its body is the way. */
  private async intoBoundary(stop: AgentStop, raw: unknown): Promise<unknown> {
    if (stop.site?.op !== 'selective_scan') return this.resume('next', raw);
    try {
      const scan = await ScanReplay.open(this.agent, stop);
      this.setScan(scan);
      this.announce(scan, 'step', scan.text);
      return {};
    } catch (error) {
      this.events.say(`The scan cannot be opened: ${(error as Error).message}`);
      return this.resume('next', raw);
    }
  }

  private async inScan(scan: ScanReplay, command: Step, raw: unknown): Promise<unknown> {
    switch (command) {
      case 'next':
      case 'stepIn':
        return this.moveOrLeave(scan, await scan.step(1), 'next', raw);
      case 'stepBack':
        return this.moveOrStay(scan, scan.step(-1));
      case 'reverseContinue':
        return this.moveOrStay(scan, this.runTo(scan, -1));
      case 'continue':
        return this.moveOrLeave(scan, await this.runTo(scan, 1), command, raw);
      default:
        return this.leave(command, raw);
    }
  }

  /** On to a step breakpoint; without one, out of the scan or back to its beginning. */
  private async runTo(scan: ScanReplay, by: 1 | -1): Promise<ScanMove> {
    const conditions = this.events.stepConditions();
    if (conditions.includes('')) return scan.step(by);
    if (conditions.length > 0) return scan.run(conditions.map((c) => `(${c})`).join(' or '), by);
    return by === 1 ? { t: scan.t, stopped: false, text: '' } : scan.seek(0);
  }

  private async moveOrLeave(
    scan: ScanReplay,
    move: ScanMove,
    command: string,
    raw: unknown,
  ): Promise<unknown> {
    if (!move.stopped) return this.leave(command, raw);
    this.announce(scan, 'step', move.text);
    return {};
  }

  private async moveOrStay(scan: ScanReplay, move: Promise<ScanMove>): Promise<unknown> {
    this.announce(scan, 'step', (await move).text);
    return {};
  }

  /** Back to the program, which goes on from the entry of the scan. */
  private async leave(command: string, raw: unknown): Promise<unknown> {
    const { scan } = this;
    if (scan) this.setScan(undefined);
    await scan?.close();
    return this.resume(command, raw);
  }

  private setScan(scan: ScanReplay | undefined): void {
    this.scan = scan;
    const capabilities = { supportsStepBack: scan !== undefined };
    this.events.send(new Event('capabilities', { capabilities }));
  }

  /** Tells the client of a stop in the scan, after the answer to its request has left. */
  private announce(scan: ScanReplay, reason: string, text: string): void {
    const event: DebugProtocol.StoppedEvent = new StoppedEvent(reason, scan.threadId);
    Object.assign(event.body, { description: scan.title, text, allThreadsStopped: true });
    setImmediate(() => this.events.send(event));
  }

  private async rememberCaller(thread: number): Promise<void> {
    const [, caller] = await this.places(thread);
    if (caller) this.seen = { thread, place: caller };
  }

  private async standsAt(thread: number, place: Place): Promise<boolean> {
    const [top] = await this.places(thread).catch(() => []);
    return (
      top !== undefined && top.line === place.line && top.path === place.path && top.depth === place.depth
    );
  }

  private async places(threadId: number): Promise<Place[]> {
    const { stackFrames } = await this.forward<DebugProtocol.StackTraceResponse['body']>('stackTrace', {
      threadId,
    });
    return stackFrames.map(({ line, source }, i) => ({
      line,
      path: source?.path,
      depth: stackFrames.length - i,
    }));
  }
}
