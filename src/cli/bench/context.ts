import { type Loaded, type LoadRequest, load } from '../../../runtime/engine/load';
import { type NativeKernels, native } from '../../../runtime/kernels/native';
import { useThreads } from '../../../runtime/kernels/native/file';
import { numel, Tensor } from '../../../runtime/tensor/tensor';
import type { Peer, Question } from './peer';

/** The published model that all figures are about, and how it is given. */
export const VIM_TINY = 'vim_tiny_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2';

/** What the measures share. */
export class Context {
  constructor(
    readonly simd: NativeKernels,
    /** Folder of the bundles. */
    readonly dist: string,
    readonly cores: number,
    readonly rounds: number,
    /** Seconds for the fastest run of each measure in a round. */
    readonly budget: number,
    readonly peer?: Peer,
  ) {}

  /** Lets this many threads compute. */
  threads(count: number): void {
    useThreads(this.dist, count);
  }

  /** What the peer takes, with the number of threads that suits it best; undefined without a peer. */
  async theirs(question: Omit<Question, 'threads' | 'seconds'>, once = false): Promise<number | undefined> {
    const threads = once || this.cores === 1 ? [this.cores] : [1, this.cores];
    return this.peer?.best({ ...question, seconds: once ? 0 : this.budget }, threads);
  }

  load(request: Partial<LoadRequest>): Promise<Loaded> {
    return load(
      { model: VIM_TINY, seed: 0, lean: true, ...request },
      () => undefined,
      async () => {},
    );
  }

  /** A tensor in the kernels' memory with the values of f. */
  tensor(shape: readonly number[], f: (i: number) => number): Tensor {
    const data = native()!.memory.allocate(numel(shape));
    for (let i = 0; i < data.length; i++) data[i] = f(i);
    return new Tensor(data, shape);
  }

  release(tensors: Iterable<Tensor>): void {
    for (const { data } of tensors) this.simd.memory.release(data);
  }
}
