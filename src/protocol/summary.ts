import { formatCount, formatNumber } from './numbers';

/** What one pass over a tensor gives. Statistics are over the finite part; the rest is counted. */
export interface Summary {
  dtype: string;
  /** Where the tensor lives; `cpu` in the embedded target. */
  device: string;
  shape: number[];
  /** In elements, as PyTorch counts them. */
  strides: number[];
  contiguous: boolean;
  numel: number;
  nan: number;
  posInf: number;
  negInf: number;
  zeros: number;
  /** Of the finite elements; all `null` when there is none. */
  min: number | null;
  max: number | null;
  mean: number | null;
  /** Population standard deviation. */
  std: number | null;
  absmax: number | null;
  /** Counts of the finite elements in equal bins from `min` to `max`. */
  histogram: number[];
  requiresGrad?: boolean;
  /** What the statistics are of where that is not plain, or why there are none. */
  note?: string;
  /** Address of the storage, for aliasing and alignment, where the target has one. */
  storagePointer?: number;
}

const BARS = '▁▂▃▄▅▆▇█';

/** Folds a histogram into `width` characters, each bar relative to the fullest one. */
export function sparkline(histogram: readonly number[], width = 6): string {
  const bins = foldBins(histogram, width);
  const top = Math.max(...bins, 0);
  if (top === 0) return '';
  return bins.map((n) => (n === 0 ? ' ' : BARS[Math.round((n / top) * (BARS.length - 1))])).join('');
}

function foldBins(histogram: readonly number[], width: number): number[] {
  const bins = new Array<number>(Math.min(width, histogram.length)).fill(0);
  histogram.forEach((n, i) => {
    bins[Math.floor((i * bins.length) / histogram.length)] += n;
  });
  return bins;
}

/**
 * The one-line form of a tensor without its name:
 * `float16 [1, 384, 197] ∈ [9.8e-4 ▁▃█▅▂▁ 0.42] μ 0.031 σ 0.027 · NaN 12`.
 * Defaults (float32, cpu, contiguous) are left out; anomalies come last and are counted, a note behind them.
 */
export function formatSummary(s: Summary): string {
  const parts: string[] = [];
  if (s.dtype !== 'float32') parts.push(s.dtype);
  parts.push(`[${s.shape.join(', ')}]`);
  if (s.device !== 'cpu') parts.push(s.device);
  parts.push(...statistics(s));
  return [parts.join(' '), ...describeAnomalies(s), ...(s.note ? [s.note] : [])].join(' · ');
}

function statistics(s: Summary): string[] {
  if (s.min === null || s.max === null || s.mean === null || s.std === null) return [];
  if (s.numel === 1) return [`= ${formatNumber(s.min)}`];
  if (s.min === s.max) return [`all ${formatNumber(s.min)}`];
  const line = sparkline(s.histogram);
  const range = `∈ [${formatNumber(s.min)} ${line ? `${line} ` : '.. '}${formatNumber(s.max)}]`;
  return [range, `μ ${formatNumber(s.mean)}`, `σ ${formatNumber(s.std)}`];
}

/** What is wrong or unusual with a tensor, worst first; empty when nothing is. */
export function describeAnomalies(s: Summary): string[] {
  const found: string[] = [];
  if (s.nan > 0) found.push(`NaN ${formatCount(s.nan)}`);
  if (s.posInf > 0) found.push(`+Inf ${formatCount(s.posInf)}`);
  if (s.negInf > 0) found.push(`-Inf ${formatCount(s.negInf)}`);
  if (s.numel === 0) found.push('empty');
  if (!s.contiguous) found.push(`strides (${s.strides.join(', ')})`);
  return found;
}

/** How many elements are NaN or infinite. */
export function nonFinite(s: Summary): number {
  return s.nan + s.posInf + s.negInf;
}
