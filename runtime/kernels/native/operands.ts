import { numel, rowMajor, Tensor } from '../../tensor/tensor';
import type { KernelMemory } from './memory';

/**
 * The tensors of one kernel call, in the kernels' memory. Those that live there already are taken as they are,
 * with their strides; others are copied in row-major order, and outputs among them are copied back at the end.
 */
export class Operands {
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly Tensor[];
  private readonly copies: Float32Array[] = [];
  private readonly back: { from: Tensor; to: Tensor }[] = [];

  constructor(
    private readonly memory: KernelMemory,
    inputs: readonly Tensor[],
    outputs: readonly Tensor[],
  ) {
    this.inputs = inputs.map((x) => (this.isAtHome(x) ? x : this.copyOf(x)));
    this.outputs = outputs.map((y) => (this.isAtHome(y) ? y : this.stand(y)));
  }

  private isAtHome(x: Tensor): boolean {
    return this.memory.holds(x.data);
  }

  private blank(x: Tensor): Tensor {
    const data = this.memory.allocate(numel(x.shape));
    this.copies.push(data);
    return new Tensor(data, x.shape, rowMajor(x.shape));
  }

  private copyOf(x: Tensor): Tensor {
    const copy = this.blank(x);
    copy.data.set(x.toArray());
    return copy;
  }

  private stand(y: Tensor): Tensor {
    const from = this.blank(y);
    this.back.push({ from, to: y });
    return from;
  }

  copyOut(): void {
    for (const { from, to } of this.back) {
      let k = 0;
      to.forEachRow((at, step, length) => {
        for (let i = 0; i < length; i++, at += step) to.data[at] = from.data[k++];
      });
    }
  }

  release(): void {
    for (const copy of this.copies) this.memory.release(copy);
  }
}

/** Byte address of a tensor's first element, for tensors in the kernels' memory; 0 for an absent one. */
export function address(x: Tensor | undefined): number {
  return x ? x.data.byteOffset + 4 * x.offset : 0;
}

/** The elements in row-major order, for kernels that take nothing else: the tensor itself where they lie so. */
export function contiguous(x: Tensor): Tensor {
  return x.contiguous ? x : rowMajorCopy(x);
}

export function rowMajorCopy(x: Tensor): Tensor {
  return new Tensor(Float32Array.from(x.toArray()), x.shape);
}
