import type { Op } from '../../../runtime/program/op';
import type { Context } from './context';
import { operations } from './limit';
import { fastest, median, ratio, time } from './measure';
import { ceiling } from './product';

/** How a pass is asked for. The backward pass runs several times, so what it reads of the forward pass must stay. */
const REQUESTS = { forward: {}, backward: { backward: true, label: 1, lean: false } } as const;

/** Seconds of the forward or the backward pass of Vim-tiny. */
async function passSeconds(c: Context, pass: 'forward' | 'backward', threads: number): Promise<number> {
  c.threads(threads);
  const { state } = await c.load(REQUESTS[pass]);
  const { program, execution } = state;
  execution.runAll();
  const ops: readonly Op[] = program.ops.filter((op) => (op.pass ?? 'forward') === pass);
  const seconds = fastest(() => {
    for (const op of ops) execution.run(op);
  }, 2 * c.budget);
  execution.dispose();
  return seconds;
}

/** Vim-tiny's passes on one thread and on all against eager PyTorch. */
export async function* modelFigures(c: Context): AsyncGenerator<string> {
  const threads = c.cores === 1 ? [1] : [1, c.cores];
  for (const pass of ['forward', 'backward'] as const) {
    const own = new Map<number, number[]>(threads.map((n) => [n, []]));
    const peers = new Map<string, number[]>();
    for (let round = 0; round < c.rounds; round++) {
      for (const n of threads) own.get(n)!.push(await passSeconds(c, pass, n));
      for (const scan of ['unbind', 'reference']) {
        // The reference's backward pass takes a minute: the time is quadratic in the length.
        const slow = scan === 'reference' && pass === 'backward';
        if (slow && round > 0) continue;
        const theirs = await c.theirs(
          { what: 'vim', arguments: { scan, backward: pass === 'backward' } },
          slow,
        );
        if (theirs !== undefined) peers.set(scan, [...(peers.get(scan) ?? []), theirs]);
      }
    }
    const { state } = await c.load(REQUESTS[pass]);
    c.threads(1);
    const least = operations(state.program, pass) / ceiling(c);
    state.execution.dispose();
    yield `Vim-tiny ${pass}: its products and scans alone take ${time(least)} at the ceiling of one core`;
    for (const [n, times] of own) {
      yield `Vim-tiny ${pass}, ${n} thread${n > 1 ? 's' : ''}: ${time(median(times))}`;
      for (const [scan, theirs] of peers)
        yield `  PyTorch, ${scan} scan: ${time(median(theirs))}, ${ratio(times.slice(0, theirs.length), theirs)}`;
    }
  }
}
