import type { Tensor } from '../../tensor/tensor';
import type { Binning } from '../histogram';
import type { Extremes, Statistics } from '../statistics';
import { forEachPortion } from './elements';
import { float, type NativeKernels } from './index';

/** Elements of a block in the kernels. */
const BLOCK = 4096;
/** Elements of an item of statistics. */
const PIECE = 65536;

/** Words of a record of `statistics`: nine float64. */
const RECORD = 18;

export function nativeStatistics(simd: NativeKernels, view: Tensor): Statistics {
  let all: Statistics | undefined;
  forEachPortion(simd, view, (elements, count) => {
    const items = Math.ceil(count / PIECE);
    collect(simd, { kernel: 'statistics', elements, items, record: RECORD, scratch: 2 * BLOCK }, (out) => {
      const records = new Float64Array(out.buffer, out.byteOffset, (items * RECORD) / 2);
      for (let i = 0; i < records.length; i += RECORD / 2) {
        const next = statisticsAt(records, i);
        all = all ? joined(all, next) : next;
      }
    });
  });
  return all!;
}

function statisticsAt(records: Float64Array, i: number): Statistics {
  return {
    count: records[i],
    nan: records[i + 1],
    posInf: records[i + 2],
    negInf: records[i + 3],
    zeros: records[i + 4],
    min: records[i + 5],
    max: records[i + 6],
    sum: records[i + 7],
    squares: records[i + 8],
  };
}

function joined(a: Statistics, b: Statistics): Statistics {
  const count = a.count + b.count;
  const apart = a.count && b.count ? b.sum / b.count - a.sum / a.count : 0;
  return {
    count,
    nan: a.nan + b.nan,
    posInf: a.posInf + b.posInf,
    negInf: a.negInf + b.negInf,
    zeros: a.zeros + b.zeros,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    sum: a.sum + b.sum,
    squares: a.squares + b.squares + (apart && apart * apart * ((a.count * b.count) / count)),
  };
}

/** `min` and `max` are without meaning when `absmax` is NaN. */
export function nativeExtremes(simd: NativeKernels, view: Tensor): Extremes {
  const all: Extremes = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, absmax: 0 };
  forEachPortion(simd, view, (elements, count) => {
    const items = Math.ceil(count / PIECE);
    collect(simd, { kernel: 'extremes', elements, items, record: 4, scratch: BLOCK }, (out) => {
      for (let i = 0; i < out.length; i += 4) {
        all.min = Math.min(all.min, out[i]);
        all.max = Math.max(all.max, out[i + 1]);
        all.absmax = Math.max(all.absmax, out[i + 2]);
      }
    });
  });
  return all;
}

export function nativeAllFinite(simd: NativeKernels, view: Tensor): boolean {
  let found = false;
  forEachPortion(simd, view, (elements, count) => {
    if (found) return;
    const items = Math.ceil(count / PIECE);
    collect(simd, { kernel: 'nonFinite', elements, items, record: 1, scratch: BLOCK }, (out) => {
      found = out.some((word) => word !== 0);
    });
  });
  return !found;
}

/** Bins up to which two elements share a counter of the kernel. */
const PAIR_BINS = 64;
/** Words of the kernel's scratch after a block. */
const SLOTS = 16;
const TABLES = 8192;
/** Elements from which on the tables are worth clearing. */
const MANY = 16384;
/** Elements of an item: seven times what a 16-bit counter of pairs in four tables may count at worst. */
const HISTOGRAM_PIECE = 7 * PIECE;

/** `s` are the statistics of the view: NaN and infinities, which the kernel counts with the others, are taken off. */
export function nativeHistogram(
  simd: NativeKernels,
  view: Tensor,
  { bins, low, scale, unit }: Binning,
  s: Statistics,
): number[] {
  const pairs = unit === 1 && bins <= PAIR_BINS && view.numel >= MANY;
  const piece = HISTOGRAM_PIECE * Math.ceil(bins / BLOCK);
  const constants = [bins, float(low), float(scale), float(unit), piece, Number(pairs)];
  const scratch = BLOCK + SLOTS + (pairs ? TABLES : 0);
  const counts = new Array<number>(bins).fill(0);
  forEachPortion(simd, view, (elements, count) => {
    const items = Math.ceil(count / piece);
    collect(simd, { kernel: 'histogram', elements, items, record: bins, constants, scratch }, (out) => {
      const found = new Int32Array(out.buffer, out.byteOffset, out.length);
      for (let i = 0; i < found.length; i += bins)
        for (let bin = 0; bin < bins; bin++) counts[bin] += found[i + bin];
    });
  });
  counts[0] -= s.negInf;
  counts[bins - 1] -= s.nan + s.posInf;
  return counts;
}

interface Collection {
  kernel: string;
  elements: readonly number[];
  items: number;
  /** Words that an item gives. */
  record: number;
  /** Arguments after the address of the records. */
  constants?: readonly number[];
  scratch: number;
}

/** Runs a kernel over elements and reads the records of its items, in order. */
function collect(
  simd: NativeKernels,
  { kernel, elements, items, record, constants = [], scratch }: Collection,
  read: (out: Float32Array) => void,
): void {
  const out = simd.memory.allocate(items * record);
  try {
    simd.run({ kernel, args: [...elements, out.byteOffset, ...constants], items, grain: 1, scratch });
    read(out);
  } finally {
    simd.memory.release(out);
  }
}
