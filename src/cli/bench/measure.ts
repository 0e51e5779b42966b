import { formatNumber } from '../../protocol/numbers';

/** Seconds of the fastest of as many runs as fit into `budget` seconds, after one to warm up. */
export function fastest(run: () => void, budget: number): number {
  run();
  let best = Number.POSITIVE_INFINITY;
  for (const end = performance.now() + 1000 * budget; ; ) {
    const start = performance.now();
    run();
    const stop = performance.now();
    best = Math.min(best, stop - start);
    if (stop > end) return best / 1000;
  }
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** `12.3 ms`. */
export function time(seconds: number): string {
  return seconds < 0.9995 ? `${formatNumber(1000 * seconds)} ms` : `${formatNumber(seconds)} s`;
}

/** How many times as long theirs took: the median over rounds, with the smallest and the largest. */
export function ratio(ours: readonly number[], theirs: readonly number[]): string {
  const ratios = ours.map((own, i) => theirs[i] / own);
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
  return `${formatNumber(median(ratios))} x (${formatNumber(low)} to ${formatNumber(high)})`;
}
