import { Worker } from 'node:worker_threads';
import type { Tensor } from '../../tensor/tensor';
import type { HelperSetup } from './helper';
import { KernelMemory } from './memory';
import { Operands } from './operands';
import { CONTROL_WORDS, JobQueue, MAX_HELPERS } from './queue';

/** A kernel of kernels/assembly: does items `from` to `to` of what `args` describes. */
export type Kernel = (args: number, from: number, to: number, scratch: number) => void;

/** What a kernel is called with. */
export interface Job {
  /** Name of the kernel in kernels/assembly. */
  kernel: string;
  /** Its arguments in the order of their class: addresses, steps and counts as whole numbers, `float(x)` else. */
  args: readonly number[];
  /** How many items there are, e.g. the channels of a scan. */
  items: number;
  /**
   * Items that a thread takes at once. Depends on the work alone, never on the number of threads, so that sums
   * come out the same on all machines.
   */
  grain: number;
  /** Floats of scratch that each thread needs. */
  scratch?: number;
}

/** Arguments of one job, in words. */
const MAX_ARGS = 48;

/** The SIMD kernels of one WebAssembly module, on a memory that they share with the tensors and with helpers. */
export class NativeKernels {
  readonly memory: KernelMemory;
  /** The kernels' numbers by their names. */
  private readonly numbers: ReadonlyMap<string, number>;
  private readonly kernels: readonly Kernel[];
  private readonly args: Int32Array;
  private readonly control: Int32Array;
  private readonly queue: JobQueue;
  private helpers = 0;
  /** One for each thread, this one first. */
  private readonly scratch: Float32Array[] = [];

  /** Throws when the engine cannot run the module. */
  constructor(private readonly module: WebAssembly.Module) {
    this.memory = new KernelMemory();
    const instance = new WebAssembly.Instance(module, { env: { memory: this.memory.memory } });
    const names = kernelNames(instance);
    this.numbers = new Map(names.map((name, i) => [name, i]));
    this.kernels = names.map((name) => instance.exports[name] as Kernel);
    this.args = this.words(MAX_ARGS);
    this.control = this.words(CONTROL_WORDS).fill(0);
    this.queue = new JobQueue(this.control);
    this.scratch.push(this.memory.allocate(1024));
  }

  /** Threads that compute, this one included. */
  get threads(): number {
    return 1 + this.helpers;
  }

  /** Chunks of work that helpers have done so far. */
  get helped(): number {
    return this.queue.helped;
  }

  /** Starts or ends helper threads until `threads` compute; `script` is the bundled helper. */
  setThreads(threads: number, script: string): void {
    const helpers = Math.max(0, Math.min(threads - 1, MAX_HELPERS));
    for (let index = helpers; index < this.helpers; index++) this.queue.dismiss(index);
    for (let index = this.helpers; index < helpers; index++) {
      this.scratch[index + 1] ??= this.memory.allocate(this.scratch[0].length);
      this.queue.setScratch(index, this.scratch[index + 1].byteOffset);
      this.startHelper(script, index);
    }
    this.helpers = helpers;
  }

  private startHelper(script: string, index: number): void {
    const { module, control, args } = this;
    const workerData: HelperSetup = {
      module,
      memory: this.memory.memory,
      control: [control.byteOffset, control.length],
      args: args.byteOffset,
      index,
      serial: this.queue.enlist(index),
    };
    const helper = new Worker(script, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
    });
    // A run must not fail, nor a process stay, because of a helper: the engine's thread does what nobody takes.
    helper.on('error', () => {});
    helper.unref();
  }

  run({ kernel, args, items, grain, scratch = 0 }: Job): void {
    const number = this.numbers.get(kernel)!;
    const run = this.kernels[number];
    this.args.set(args);
    this.reserveScratch(scratch);
    const [at, own] = [this.args.byteOffset, this.scratch[0].byteOffset];
    if (this.helpers === 0 || items <= grain) run(at, 0, items, own);
    else this.queue.share(number, items, grain, (_, from, to) => run(at, from, to, own));
  }

  /** Calls `compute` with tensors of the same contents that lie in the kernels' memory. */
  with(inputs: readonly Tensor[], outputs: readonly Tensor[], compute: (o: Operands) => void): void {
    const operands = new Operands(this.memory, inputs, outputs);
    try {
      compute(operands);
      operands.copyOut();
    } finally {
      operands.release();
    }
  }

  private reserveScratch(floats: number): void {
    if (floats <= this.scratch[0].length) return;
    for (const [i, block] of this.scratch.entries()) {
      this.memory.release(block);
      this.scratch[i] = this.memory.allocate(floats);
      if (i > 0) this.queue.setScratch(i - 1, this.scratch[i].byteOffset);
    }
  }

  private words(count: number): Int32Array {
    const block = this.memory.allocate(count);
    return new Int32Array(block.buffer, block.byteOffset, count);
  }
}

/** The kernels of a module in an order that all its instances share. */
export function kernelNames(instance: WebAssembly.Instance): string[] {
  return Object.keys(instance.exports)
    .filter((name) => typeof instance.exports[name] === 'function')
    .sort();
}

const bits = new DataView(new ArrayBuffer(4));

/** A float argument as the word that holds its bits. */
export function float(x: number): number {
  bits.setFloat32(0, x);
  return bits.getInt32(0);
}
