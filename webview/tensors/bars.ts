/** Histograms as bars. No DOM. */
import type { Summary } from '../../src/protocol/summary';

export interface Bar {
  /** 0..1 of the fullest bar; a bar with few elements still shows. */
  height: number;
  /** On which side of zero its bin lies, by the bin's centre; `unsigned` when all elements are on one side. */
  sign: 'negative' | 'positive' | 'unsigned';
  count: number;
  from: number;
  to: number;
}

/** At least this much of a bar is drawn when it holds anything at all. */
const VISIBLE = 0.06;

/**
 * A histogram folded into at most `width` bars. Heights follow the square root of the count, so that tails
 * beside a sharp peak are seen.
 */
export function barsOf(summary: Summary, width: number): Bar[] {
  const { min, max, histogram } = summary;
  if (min === null || max === null || min === max || histogram.length === 0) return [];
  const counts = fold(histogram, width);
  const top = Math.max(...counts);
  if (top === 0) return [];
  const step = (max - min) / counts.length;
  return counts.map((count, i) => ({
    height: count === 0 ? 0 : Math.max(VISIBLE, Math.sqrt(count / top)),
    sign: min >= 0 || max <= 0 ? 'unsigned' : min + (i + 0.5) * step < 0 ? 'negative' : 'positive',
    count,
    from: min + i * step,
    to: min + (i + 1) * step,
  }));
}

function fold(histogram: readonly number[], width: number): number[] {
  const counts = new Array<number>(Math.min(width, histogram.length)).fill(0);
  histogram.forEach((count, i) => {
    counts[Math.floor((i * counts.length) / histogram.length)] += count;
  });
  return counts;
}

/** Where zero lies between min (0) and max (1), if between them. */
export function zeroPosition(summary: Summary): number | undefined {
  const { min, max } = summary;
  return min === null || max === null || min >= 0 || max <= 0 ? undefined : -min / (max - min);
}
