import { float } from '../../../runtime/kernels/native';
import { matmul } from '../../../runtime/kernels/native/matmul';
import { type Tensor, view } from '../../../runtime/tensor/tensor';
import { formatNumber } from '../../protocol/numbers';
import type { Context } from './context';
import { fastest, median } from './measure';

/** Multiply-adds of four lanes that one item of the kernel `peak` is. */
const PER_ITEM = 12;
const ITEMS = 1_000_000;

/** Floating-point operations per second that one core can do in 128-bit SIMD with this build. */
export function ceiling(c: Context): number {
  const job = { kernel: 'peak', args: [float(0.5)], items: ITEMS, grain: ITEMS };
  return (2 * 4 * PER_ITEM * ITEMS) / fastest(() => c.simd.run(job), c.budget);
}

const turn = (x: Tensor) => x.with(view.transpose(x, 0, 1));

/** The products of one Vim-tiny block as [name, M, K, N, how A and B lie]. */
const SHAPES = [
  ['in_proj', 768, 192, 197, 'ab'],
  ['x_proj', 44, 384, 197, 'ab'],
  ['dt_proj', 384, 12, 197, 'ab'],
  ['out_proj', 197, 384, 192, 'AB'],
  ['gradient of in_proj', 192, 768, 197, 'Ab'],
  ['gradient of its weight', 768, 197, 192, 'aB'],
] as const;

/** Share of the machine's limit that the matrix product reaches at the model's shapes, on one thread. */
export async function* productFigures(c: Context): AsyncGenerator<string> {
  c.threads(1);
  const shares = new Map<string, number[]>();
  const together: number[] = [];
  const limits: number[] = [];
  for (let round = 0; round < c.rounds; round++) {
    limits.push(ceiling(c));
    let [work, seconds] = [0, 0];
    for (const [name, M, K, N, order] of SHAPES) {
      const wave = (i: number) => Math.sin(i);
      const a = order[0] === 'A' ? turn(c.tensor([K, M], wave)) : c.tensor([M, K], wave);
      const b = order[1] === 'B' ? turn(c.tensor([N, K], wave)) : c.tensor([K, N], wave);
      const to = c.tensor([M, N], wave);
      const took = fastest(() => matmul(c.simd, { a, b, c: to, biasOf: 'rows' }), c.budget);
      work += 2 * M * K * N;
      seconds += took;
      shares.set(name, [...(shares.get(name) ?? []), (2 * M * K * N) / took / limits[round]]);
      c.release([a, b, to]);
    }
    together.push(work / seconds / limits[round]);
  }
  yield `matrix product, share of the ${formatNumber(median(limits) / 1e9)} GFLOP/s that 128-bit SIMD can do here: ${formatNumber(100 * median(together))} %`;
  for (const [name, M, K, N] of SHAPES)
    yield `  ${name} (${M} x ${K} x ${N}): ${formatNumber(100 * median(shares.get(name)!))} %`;
}
