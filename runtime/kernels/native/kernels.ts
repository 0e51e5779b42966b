import type { Tensor } from '../../tensor/tensor';
import { KernelMemory } from './memory';
import { Operands } from './operands';

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

/** The SIMD kernels of one WebAssembly module, on a memory that they share with the tensors. */
export class NativeKernels {
  readonly memory: KernelMemory;
  private readonly kernels: Readonly<Record<string, Kernel>>;
  private readonly args: Int32Array;
  private scratch: Float32Array;

  /** Throws when the engine cannot run the module. */
  constructor(readonly module: WebAssembly.Module) {
    this.memory = new KernelMemory();
    const instance = new WebAssembly.Instance(module, { env: { memory: this.memory.memory } });
    this.kernels = instance.exports as unknown as Record<string, Kernel>;
    const args = this.memory.allocate(MAX_ARGS);
    this.args = new Int32Array(args.buffer, args.byteOffset, MAX_ARGS);
    this.scratch = this.memory.allocate(1024);
  }

  run({ kernel, args, items, scratch = 0 }: Job): void {
    this.args.set(args);
    this.kernels[kernel](this.args.byteOffset, 0, items, this.scratchOf(scratch));
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

  private scratchOf(floats: number): number {
    if (floats > this.scratch.length) {
      this.memory.release(this.scratch);
      this.scratch = this.memory.allocate(floats);
    }
    return this.scratch.byteOffset;
  }
}

const bits = new DataView(new ArrayBuffer(4));

/** A float argument as the word that holds its bits. */
export function float(x: number): number {
  bits.setFloat32(0, x);
  return bits.getInt32(0);
}
