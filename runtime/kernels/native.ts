/** What the WebAssembly module of kernels/assembly exports. */
interface Exports {
  multiply(x: number, w: number, y: number, panel: number, M: number, N: number, K: number): void;
}

const PAGE = 65536;
/** Block of the product: M is padded to whole rows, N to whole columns of it. */
const ROWS = 4;
const COLUMNS = 8;

/** The SIMD kernels, with memory of their own: operands are copied in and results out. */
class NativeKernels {
  private readonly memory: WebAssembly.Memory;
  private readonly exports: Exports;

  /** Throws when the engine cannot run the module, e.g. for want of SIMD. */
  constructor(module: Uint8Array) {
    this.memory = new WebAssembly.Memory({ initial: 1 });
    const env = { memory: this.memory };
    const instance = new WebAssembly.Instance(new WebAssembly.Module(module as BufferSource), { env });
    this.exports = instance.exports as unknown as Exports;
  }

  /** x (M, K) w (N, K)^T as a row-major view whose rows are `stride` apart; valid until the next call. */
  multiply(
    x: Float32Array,
    w: Float32Array,
    M: number,
    N: number,
    K: number,
  ): { y: Float32Array; stride: number } {
    const rows = Math.ceil(M / ROWS) * ROWS;
    const stride = Math.ceil(N / COLUMNS) * COLUMNS;
    const [atX, atW, atY, atPanel, end] = layout([rows * K, stride * K, rows * stride, COLUMNS * K]);
    this.reserve(end);
    const memory = new Float32Array(this.memory.buffer);
    memory.set(x.subarray(0, M * K), atX);
    memory.fill(0, atX + M * K, atX + rows * K);
    memory.set(w.subarray(0, N * K), atW);
    memory.fill(0, atW + N * K, atW + stride * K);
    this.exports.multiply(4 * atX, 4 * atW, 4 * atY, 4 * atPanel, rows, stride, K);
    return { y: memory.subarray(atY, atY + rows * stride), stride };
  }

  private reserve(floats: number): void {
    const missing = Math.ceil((4 * floats - this.memory.buffer.byteLength) / PAGE);
    if (missing > 0) this.memory.grow(missing);
  }
}

/** Where blocks of these sizes begin, 16-byte aligned, and where the last ends. */
function layout(sizes: readonly number[]): number[] {
  let at = 0;
  const starts = [0];
  for (const size of sizes) {
    at += Math.ceil(size / 4) * 4;
    starts.push(at);
  }
  return starts;
}

let kernels: NativeKernels | undefined;

/** Uses the SIMD kernels from now on; without this call, or where they cannot run, the plain ones do the work. */
export function useNative(module: Uint8Array | undefined): boolean {
  kernels = undefined;
  try {
    if (module) kernels = new NativeKernels(module);
  } catch {
    // An engine without SIMD still computes the same model, only slower.
  }
  return kernels !== undefined;
}

export function native(): NativeKernels | undefined {
  return kernels;
}
