import { summarize } from '../../../runtime/kernels/summary';
import type { Context } from './context';
import { fastest, median, ratio, time } from './measure';

const COUNT = 1e8;

/** Statistics and histogram of a large tensor against PyTorch's separate reductions. */
export async function* summaryFigures(c: Context): AsyncGenerator<string> {
  const x = c.tensor([COUNT], (i) => Math.sin(0.37 * i) * (1 + (i & 7)));
  const threads = c.cores === 1 ? [1] : [1, c.cores];
  const own = new Map<number, number[]>(threads.map((n) => [n, []]));
  const peers: number[] = [];
  for (let round = 0; round < c.rounds; round++) {
    for (const n of threads) {
      c.threads(n);
      own.get(n)!.push(fastest(() => summarize(x), c.budget));
    }
    const theirs = await c.theirs({ what: 'summary', arguments: { count: COUNT } });
    if (theirs !== undefined) peers.push(theirs);
  }
  c.release([x]);
  for (const [n, times] of own) {
    yield `summary with histogram of 1e8 floats, ${n} thread${n > 1 ? 's' : ''}: ${time(median(times))}`;
    if (peers.length) yield `  PyTorch, separate reductions: ${time(median(peers))}, ${ratio(times, peers)}`;
  }
}
