import { Tensor } from '../tensor/tensor';

/** Elements per block: they stay in the first cache. */
const BLOCK = 4096;
/** Runs below this length are cheaper to gather than to visit one by one. */
const SHORT_RUN = 64;

/**
 * The same elements, each once, in the order in which they lie in memory: flipped axes turned back, expanded
 * axes dropped (`repeats` counts them), transposed ones sorted, neighbours joined. Only for what does not
 * depend on the order of elements.
 */
export function inMemoryOrder(tensor: Tensor): { view: Tensor; repeats: number } {
  if (tensor.contiguous || tensor.numel === 0) return { view: tensor, repeats: 1 };
  let offset = tensor.offset;
  let repeats = 1;
  const axes: { size: number; stride: number }[] = [];
  tensor.shape.forEach((size, axis) => {
    const stride = tensor.strides[axis];
    if (size === 1) return;
    if (stride === 0) repeats *= size;
    else axes.push({ size, stride: Math.abs(stride) });
    if (stride < 0) offset += (size - 1) * stride;
  });
  axes.sort((a, b) => b.stride - a.stride);
  for (let i = axes.length - 2; i >= 0; i--) {
    const outer = axes[i];
    const inner = axes[i + 1];
    if (outer.stride === inner.stride * inner.size)
      axes.splice(i, 2, { size: outer.size * inner.size, stride: inner.stride });
  }
  const view = new Tensor(
    tensor.data,
    axes.map((a) => a.size),
    axes.map((a) => a.stride),
    offset,
  );
  return { view, repeats };
}

/** Elements `from` .. `to - 1` of `data`. */
export type BlockVisitor = (data: Float32Array, from: number, to: number) => void;

/**
 * Calls `visit` with blocks of elements in row-major order: pieces of the storage itself where runs are long,
 * else a scratch block that short or strided runs are gathered into.
 */
export function forEachBlock(view: Tensor, visit: BlockVisitor): void {
  let scratch: Float32Array | null = null;
  let filled = 0;
  const { data } = view;
  view.forEachRow((at, step, length) => {
    if (step === 1 && length >= SHORT_RUN) {
      for (let from = at; from < at + length; from += BLOCK)
        visit(data, from, Math.min(from + BLOCK, at + length));
      return;
    }
    scratch ??= new Float32Array(Math.min(BLOCK, view.numel));
    for (let done = 0; done < length; ) {
      const n = Math.min(length - done, BLOCK - filled);
      gather(data, at + done * step, step, scratch, filled, n);
      done += n;
      filled += n;
      if (filled < BLOCK) continue;
      visit(scratch, 0, BLOCK);
      filled = 0;
    }
  });
  if (scratch) visit(scratch, 0, filled);
}

function gather(
  from: Float32Array,
  at: number,
  step: number,
  to: Float32Array,
  start: number,
  n: number,
): void {
  const end = start + n;
  for (let i = at, k = start; k < end; k++, i += step) to[k] = from[i];
}
