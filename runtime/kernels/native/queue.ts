/** Words of the control block. */
const EPOCH = 0;
const OPEN = 1;
const ACTIVE = 2;
const NEXT = 3;
const CHUNKS = 4;
const GRAIN = 5;
const ITEMS = 6;
const KERNEL = 7;
const FAILED = 8;
const HELPED = 9;
/** From here on: the scratch address of each helper. */
const SCRATCH = 16;

/** Most helper threads that a control block has room for. */
export const MAX_HELPERS = 63;
/** From here on: a number for each helper's place, which changes when another helper takes it or none. */
const SERIAL = SCRATCH + MAX_HELPERS;
export const CONTROL_WORDS = SERIAL + MAX_HELPERS;

/** How often a thread looks before it goes to sleep: about a tenth of a millisecond. */
const SPINS = 20_000;

/** Does items `from` to `to` of the open job with the kernel of this number. */
export type Work = (kernel: number, from: number, to: number) => void;

/**
 * One job at a time, shared by threads in chunks: whoever is free takes the next one, so a thread that is kept
 * busy by others costs no more than its current chunk. All state is in shared memory.
 */
export class JobQueue {
  constructor(private readonly words: Int32Array) {}

  /** Opens a job, works on it, and returns when all of it is done. For the one thread that owns the queue. */
  share(kernel: number, items: number, grain: number, work: Work): void {
    const { words } = this;
    words[KERNEL] = kernel;
    words[ITEMS] = items;
    words[GRAIN] = grain;
    words[CHUNKS] = Math.ceil(items / grain);
    Atomics.store(words, NEXT, 0);
    Atomics.store(words, OPEN, 1);
    Atomics.add(words, EPOCH, 1);
    Atomics.notify(words, EPOCH);
    try {
      this.takeChunks(work);
    } finally {
      this.close();
    }
    if (Atomics.exchange(words, FAILED, 0)) throw new Error('A helper thread failed.');
  }

  /** No helper may enter any more; waits for those inside, since the arguments are about to change. */
  private close(): void {
    const { words } = this;
    Atomics.store(words, OPEN, 0);
    for (let spins = 0; ; spins++) {
      const active = Atomics.load(words, ACTIVE);
      if (active === 0) return;
      if (spins > SPINS) Atomics.wait(words, ACTIVE, active, 1);
    }
  }

  /** Waits for a job after the one of `epoch` and helps with it if it still serves; gives its epoch. For helpers. */
  help(epoch: number, work: Work, serves = () => true): number {
    const { words } = this;
    for (let spins = 0; Atomics.load(words, EPOCH) === epoch; spins++) {
      if (spins > SPINS) Atomics.wait(words, EPOCH, epoch);
    }
    Atomics.add(words, ACTIVE, 1);
    // Read again: the job that woke this thread may be over, and another one open.
    const current = Atomics.load(words, EPOCH);
    try {
      if (Atomics.load(words, OPEN) && serves()) Atomics.add(words, HELPED, this.takeChunks(work));
    } catch {
      Atomics.store(words, FAILED, 1);
    } finally {
      Atomics.sub(words, ACTIVE, 1);
      Atomics.notify(words, ACTIVE);
    }
    return current;
  }

  /** Chunks that helpers have done so far. */
  get helped(): number {
    return Atomics.load(this.words, HELPED);
  }

  /** Does chunks until there are none left; gives how many. */
  private takeChunks(work: Work): number {
    const { words } = this;
    const [chunks, grain, items, kernel] = [words[CHUNKS], words[GRAIN], words[ITEMS], words[KERNEL]];
    let done = 0;
    for (let i = Atomics.add(words, NEXT, 1); i < chunks; i = Atomics.add(words, NEXT, 1), done++) {
      work(kernel, i * grain, Math.min(items, (i + 1) * grain));
    }
    return done;
  }

  /** Gives a place to a new helper, who serves while it has this number. */
  enlist(helper: number): number {
    return Atomics.add(this.words, SERIAL + helper, 1) + 1;
  }

  /** Lets a helper end by itself: one that is killed might leave a job half done, and the owner waiting. */
  dismiss(helper: number): void {
    this.enlist(helper);
    Atomics.add(this.words, EPOCH, 1);
    Atomics.notify(this.words, EPOCH);
  }

  serves(helper: number, serial: number): boolean {
    return Atomics.load(this.words, SERIAL + helper) === serial;
  }

  scratchOf(helper: number): number {
    return this.words[SCRATCH + helper];
  }

  setScratch(helper: number, address: number): void {
    this.words[SCRATCH + helper] = address;
  }
}
