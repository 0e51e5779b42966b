import { Debugger } from '../../../runtime/engine/debugger';
import type { ProbeSpec } from '../../../runtime/engine/probes';
import { parseBreakpointName } from '../../protocol/breakpointSpec';
import type { Context } from './context';
import { fastest, median, time } from './measure';

const NEVER: ProbeSpec = {
  id: 1,
  target: parseBreakpointName('selective_scan'),
  condition: 'delta.max() > 1e30',
};

/** What the debugger costs: a forward pass of Vim-tiny in it, against the same ops without it. */
export async function* debuggerFigures(c: Context): AsyncGenerator<string> {
  c.threads(1);
  const { state } = await c.load({});
  const debug = new Debugger(state, { output() {}, probeFailed() {}, breathe: () => false });
  const start = state.position;
  const run = async (probes: ProbeSpec[], filters: ('nan' | 'inf')[]) => {
    debug.setProbes(probes);
    debug.setFilters(filters.map((filter) => ({ filter })));
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 8; i++) {
      state.position = start;
      const from = performance.now();
      await debug.resume('continue');
      best = Math.min(best, (performance.now() - from) / 1000);
    }
    return best;
  };
  const shares: Record<string, number[]> = { none: [], condition: [], filters: [] };
  const plain: number[] = [];
  for (let round = 0; round < c.rounds; round++) {
    plain.push(fastest(() => state.execution.runAll(), c.budget));
    shares.none.push((await run([], [])) / plain[round]);
    shares.condition.push((await run([NEVER], [])) / plain[round]);
    shares.filters.push((await run([], ['nan', 'inf'])) / plain[round]);
  }
  state.execution.dispose();
  const x = (name: string) => `${median(shares[name]).toFixed(3)} x`;
  yield `Vim-tiny forward without the debugger: ${time(median(plain))}`;
  yield `  in the debugger, no breakpoint: ${x('none')}`;
  yield `  with a condition at every scan that never holds: ${x('condition')}`;
  yield `  with the NaN and Inf filters: ${x('filters')}`;
}
