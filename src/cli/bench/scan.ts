import { selectiveScanBackward } from '../../../runtime/kernels/backward/selectiveScan';
import { selectiveScan } from '../../../runtime/kernels/selectiveScan';
import type { Tensor } from '../../../runtime/tensor/tensor';
import type { Context } from './context';
import { PER_STATE } from './limit';
import { fastest, median, ratio, time } from './measure';
import { ceiling } from './product';

/** Vim-tiny's scan: B, D, L, N. */
const SHAPE = [1, 384, 197, 16] as const;

function scanTensors(c: Context, [batch, channels, length, states]: readonly number[]) {
  const wave = (i: number) => Math.sin(0.7 * i);
  const rows = (f: (i: number) => number) => c.tensor([batch, channels, length], f);
  return {
    u: rows(wave),
    delta: rows((i) => 0.02 * (1.01 + wave(i))),
    A: c.tensor([channels, states], (i) => -1 - (i % states)),
    B: c.tensor([batch, states, length], wave),
    C: c.tensor([batch, states, length], wave),
    D: c.tensor([channels], () => 1),
    z: rows(wave),
  };
}

/** Milliseconds of one scan of this shape, forward and backward. */
export function scanSeconds(c: Context, shape: readonly number[]): { forward: number; backward: number } {
  const s = scanTensors(c, shape);
  const like = (x: Tensor) => c.tensor(x.shape, () => 1);
  const gradients = {
    du: like(s.u),
    ddelta: like(s.u),
    dA: like(s.A),
    dB: like(s.B),
    dC: like(s.C),
    dD: like(s.D),
    dz: like(s.z),
  };
  const [y, dy] = [like(s.u), like(s.u)];
  const forward = fastest(() => selectiveScan(s, y), c.budget);
  const backward = fastest(() => selectiveScanBackward(s, dy, gradients), c.budget);
  c.release([...Object.values(s), ...Object.values(gradients), y, dy]);
  return { forward, backward };
}

/** Seconds that the multiply-adds of a forward scan take at the ceiling of 128-bit SIMD. */
function multiplying(c: Context): number {
  return (2 * PER_STATE * SHAPE.reduce<number>((n, size) => n * size, 1)) / ceiling(c);
}

/** One scan on one thread against eager PyTorch. */
export async function* scanFigures(c: Context): AsyncGenerator<string> {
  c.threads(1);
  const own = { forward: [] as number[], backward: [] as number[] };
  const peers = new Map<string, number[]>();
  for (let round = 0; round < c.rounds; round++) {
    const { forward, backward } = scanSeconds(c, SHAPE);
    own.forward.push(forward);
    own.backward.push(backward);
    for (const scan of ['reference', 'unbind']) {
      for (const pass of ['forward', 'backward']) {
        const once = scan === 'reference' && pass === 'backward';
        const theirs = await c.theirs(
          { what: 'scan', arguments: { shape: SHAPE, scan, backward: pass === 'backward' } },
          once,
        );
        if (theirs !== undefined)
          peers.set(`${scan} ${pass}`, [...(peers.get(`${scan} ${pass}`) ?? []), theirs]);
      }
    }
  }
  for (const pass of ['forward', 'backward'] as const) {
    const limit = pass === 'forward' ? `; multiplying alone takes ${time(multiplying(c))}` : '';
    yield `scan ${pass} (${SHAPE.join(', ')}), 1 thread: ${time(median(own[pass]))}${limit}`;
    for (const scan of ['reference', 'unbind']) {
      const theirs = peers.get(`${scan} ${pass}`);
      if (theirs) yield `  PyTorch, ${scan} scan: ${time(median(theirs))}, ${ratio(own[pass], theirs)}`;
    }
  }
}
