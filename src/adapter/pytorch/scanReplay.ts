import type { AgentClient } from './agentClient';
import type { AgentStop } from './agentStop';

/** Opening recomputes the whole scan. */
const OPEN_MS = 60_000;

/** Where a move in the scan led to. */
export interface ScanMove {
  t: number;
  /** False when a step met the end of the scan, or the condition held nowhere. */
  stopped: boolean;
  text: string;
}

/** One scan, opened at its entry: the recurrence recomputed, stepped forwards and backwards in t. */
export class ScanReplay {
  t = 0;
  private constructor(
    private readonly agent: AgentClient,
    readonly threadId: number,
    readonly length: number,
    /** What is to say of it at its first step. */
    readonly text: string,
  ) {}

  /** Opens the scan that the thread stands before. Throws the agent's sentence when it cannot be opened. */
  static async open(agent: AgentClient, { threadId }: AgentStop): Promise<ScanReplay> {
    const opened = await agent.call<ScanMove & { length: number }>('openScan', { threadId }, OPEN_MS);
    const scan = new ScanReplay(agent, threadId, opened.length, opened.text ?? '');
    scan.t = opened.t;
    return scan;
  }

  step(by: 1 | -1): Promise<ScanMove> {
    return this.move('stepScan', { by });
  }

  /** Goes to a time step. */
  seek(t: number): Promise<ScanMove> {
    return this.move('seekScan', { t });
  }

  /** Goes on to where the condition holds, else to the end. */
  run(condition: string, by: 1 | -1): Promise<ScanMove> {
    return this.move('runScan', { condition, by });
  }

  /** Lets the agent drop what it kept. */
  async close(): Promise<void> {
    await this.agent.attempt('closeScan', {}, 2_000);
  }

  get title(): string {
    return `selective_scan · t ${this.t}`;
  }

  private async move(method: string, args: object): Promise<ScanMove> {
    const { t, stopped, text = '' } = await this.agent.call<ScanMove>(method, args, OPEN_MS);
    this.t = t;
    return { t, stopped, text };
  }
}
