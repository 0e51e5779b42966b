const PAGE = 65536;
/** Pages that the memory may grow to: all of 32-bit addresses. */
export const MAX_PAGES = 65536;
/** Blocks begin at cache lines. */
const ALIGN = 64;
/** The memory grows by at least this much, so that it seldom grows. */
const GROWTH = 256;

/** The tensors do not fit; the message is one sentence that says what to do. */
export class MemoryError extends Error {}

/**
 * The memory that the kernels compute in; tensors that live in it are not copied for them. It is shared with
 * helper threads, and since shared memory never moves, arrays stay valid when it grows.
 */
export class KernelMemory {
  readonly memory = new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES, shared: true });
  private readonly buffers = new WeakSet<ArrayBufferLike>();
  /** Freed blocks by their size. */
  private readonly free = new Map<number, number[]>();
  /** Address 0 is left out: it means "absent". */
  private end = ALIGN;
  /** Bytes of all blocks that are in use. */
  used = 0;

  constructor() {
    this.buffers.add(this.memory.buffer);
  }

  /** True when an array lies in this memory. */
  holds(array: Float32Array): boolean {
    return this.buffers.has(array.buffer);
  }

  /** An array of its own, not cleared. Throws a `MemoryError` when 4 GB are used up. */
  allocate(floats: number): Float32Array {
    const bytes = blockSize(floats);
    const at = this.free.get(bytes)?.pop() ?? this.append(bytes);
    this.used += bytes;
    return new Float32Array(this.memory.buffer, at, floats);
  }

  /** Gives an array of `allocate` back; nothing may look at it any more. */
  release(array: Float32Array): void {
    const bytes = blockSize(array.length);
    this.used -= bytes;
    const blocks = this.free.get(bytes);
    if (blocks) blocks.push(array.byteOffset);
    else this.free.set(bytes, [array.byteOffset]);
  }

  private append(bytes: number): number {
    const at = this.end;
    const missing = Math.ceil((at + bytes - this.memory.buffer.byteLength) / PAGE);
    if (missing > 0) this.grow(missing);
    this.end += bytes;
    return at;
  }

  private grow(missing: number): void {
    const pages = this.memory.buffer.byteLength / PAGE;
    if (pages + missing > MAX_PAGES)
      throw new MemoryError(
        'The tensors of this run need more than the 4 GB that the embedded engine can address; lower the batch size, the sequence length or the memory for stepping back.',
      );
    this.memory.grow(Math.min(Math.max(missing, GROWTH), MAX_PAGES - pages));
    this.buffers.add(this.memory.buffer);
  }
}

function blockSize(floats: number): number {
  return Math.max(1, Math.ceil((4 * floats) / ALIGN)) * ALIGN;
}
