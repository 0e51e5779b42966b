import type { Tensor } from '../tensor/tensor';
import { forEachBlock } from './memoryOrder';
import { kernelsFor } from './native/elements';
import { nativeHistogram } from './native/summary';
import type { Statistics } from './statistics';

/**
 * Equal bins from the smallest to the largest element. The bin of x is trunc((x unit - low) scale), at most
 * bins - 1, with all arithmetic in float32, so that every kernel finds the same one.
 */
export interface Binning {
  bins: number;
  low: number;
  scale: number;
  /** A power of two that keeps the range and the scale within float32. */
  unit: number;
}

/** Ranges between these need no unit. */
const [TINY, HUGE] = [2 ** -100, 2 ** 126];

export function binningOf(min: number, max: number, bins: number): Binning {
  const range = max - min;
  const unit = range < TINY ? 2 ** 64 : range > HUGE ? 2 ** -4 : 1;
  return { bins, unit, low: Math.fround(min * unit), scale: Math.fround(bins / (range * unit)) };
}

/** How many finite elements of a view are in each bin; `s` are its statistics. All are in the first when equal. */
export function histogram(view: Tensor, s: Statistics, bins: number): number[] {
  if (!(s.min < s.max)) {
    const counts = new Array<number>(bins).fill(0);
    counts[0] = s.count;
    return counts;
  }
  const binning = binningOf(s.min, s.max, bins);
  const simd = kernelsFor(view);
  return simd ? nativeHistogram(simd, view, binning, s) : plainHistogram(view, binning);
}

/** The same in plain TypeScript. */
export function plainHistogram(view: Tensor, { bins, low, scale, unit }: Binning): number[] {
  const counts = new Int32Array(bins);
  forEachBlock(view, (data, from, to) => {
    for (let i = from; i < to; i++) {
      const place = Math.fround(Math.fround(Math.fround(data[i] * unit) - low) * scale);
      if (place - place === 0) counts[Math.min(place | 0, bins - 1)]++;
    }
  });
  return Array.from(counts);
}
