import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import script from './peer.py';

/** What PyTorch is asked to do; see peer.py. */
export interface Question {
  what: 'scan' | 'vim' | 'summary';
  arguments: Record<string, unknown>;
  threads: number;
  /** How long to try for the fastest run; 0 for a single run. */
  seconds: number;
}

/** A Python process with PyTorch that times the same work beside ours. */
export class Peer {
  private readonly lines: AsyncIterator<string>;
  private stderr = '';

  private constructor(
    private readonly process: ChildProcessWithoutNullStreams,
    reader: Interface,
  ) {
    this.lines = reader[Symbol.asyncIterator]();
    process.stdin.on('error', () => {}); // a Python that has ended is told by its output
    process.stderr.on('data', (text) => {
      this.stderr += text;
    });
  }

  /** `examples` is the folder of vim_pytorch.py. Gives undefined when this Python cannot run PyTorch. */
  static async start(python: string, examples: string): Promise<Peer | undefined> {
    const child = spawn(python, ['-c', script, examples]);
    const peer = new Peer(child, createInterface({ input: child.stdout }));
    const failed = once(child, 'error').then(() => false);
    const works = peer.seconds({ what: 'summary', arguments: { count: 10 }, threads: 1, seconds: 0 });
    const ready = await Promise.race([
      failed,
      works.then(
        () => true,
        () => false,
      ),
    ]);
    return ready ? peer : undefined;
  }

  /** Rejects with what Python wrote when it ended. */
  async seconds(question: Question): Promise<number> {
    this.process.stdin.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await this.lines.next();
    if (done) throw new Error(`PyTorch ended: ${this.stderr.trim().split('\n').at(-1)}`);
    return Number(value);
  }

  /** The fastest of one thread and all cores. */
  async best(question: Omit<Question, 'threads'>, threads: readonly number[]): Promise<number> {
    const times: number[] = [];
    for (const count of threads) times.push(await this.seconds({ ...question, threads: count }));
    return Math.min(...times);
  }

  end(): void {
    this.process.kill();
  }
}
