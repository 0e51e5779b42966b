/**
 * Resizing as Pillow does it, with the same integers: each output pixel is a weighted mean over the input pixels
 * under the filter, which is stretched when shrinking (antialias); first along rows, then along columns, with 8-bit
 * values in between.
 */
import type { Image8 } from './image';

export type Interpolation = 'nearest' | 'bilinear' | 'bicubic';

interface Filter {
  readonly support: number;
  readonly weight: (x: number) => number;
}

const FILTERS: Record<Exclude<Interpolation, 'nearest'>, Filter> = {
  bilinear: { support: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) },
  bicubic: { support: 2, weight: cubic },
};

/** Weights are whole multiples of 2^-22, so that sums of 8-bit values stay within 32 bits. */
const PRECISION = 22;

/** Keys' cubic convolution with a = -0.5. */
function cubic(x: number): number {
  const a = -0.5;
  const d = Math.abs(x);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? (((d - 5) * d + 8) * d - 4) * a : 0;
}

/** The image at another size. An image of that size comes back as it is. */
export function resize(image: Image8, width: number, height: number, interpolation: Interpolation): Image8 {
  if (width === image.width && height === image.height) return image;
  if (interpolation === 'nearest') return resizeNearest(image, width, height);
  const filter = FILTERS[interpolation];
  const wide = width === image.width ? image : resizeRows(image, width, filter);
  return height === wide.height ? wide : resizeColumns(wide, height, filter);
}

/** For each output position: the first input position under the filter, and the weights from there on. */
interface Taps {
  readonly first: number;
  readonly weights: Int32Array;
}

function computeTaps(size: number, newSize: number, { support, weight }: Filter): Taps[] {
  const scale = size / newSize;
  const stretch = Math.max(1, scale);
  const reach = support * stretch;
  return Array.from({ length: newSize }, (_, i) => {
    const centre = (i + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - reach + 0.5));
    const last = Math.min(size, Math.trunc(centre + reach + 0.5));
    const raw = Array.from({ length: last - first }, (_, k) =>
      weight((first + k - centre + 0.5) * (1 / stretch)),
    );
    const total = raw.reduce((sum, w) => sum + w, 0);
    return {
      first,
      weights: Int32Array.from(raw, (w) => roundAway((total === 0 ? w : w / total) * 2 ** PRECISION)),
    };
  });
}

function roundAway(x: number): number {
  return Math.trunc(x < 0 ? x - 0.5 : x + 0.5);
}

function resizeRows({ width, height, channels, data }: Image8, newWidth: number, filter: Filter): Image8 {
  const taps = computeTaps(width, newWidth, filter);
  const out = new Uint8Array(newWidth * height * channels);
  let at = 0;
  for (let y = 0; y < height; y++) {
    for (const { first, weights } of taps) {
      const start = (y * width + first) * channels;
      for (let c = 0; c < channels; c++) out[at++] = weightedMean(data, start + c, channels, weights);
    }
  }
  return { width: newWidth, height, channels, data: out };
}

function resizeColumns({ width, height, channels, data }: Image8, newHeight: number, filter: Filter): Image8 {
  const stride = width * channels;
  const out = new Uint8Array(stride * newHeight);
  let at = 0;
  for (const { first, weights } of computeTaps(height, newHeight, filter)) {
    const start = first * stride;
    for (let x = 0; x < stride; x++) out[at++] = weightedMean(data, start + x, stride, weights);
  }
  return { width, height: newHeight, channels, data: out };
}

function weightedMean(data: Uint8Array, start: number, step: number, weights: Int32Array): number {
  let sum = 1 << (PRECISION - 1);
  for (let k = 0, at = start; k < weights.length; k++, at += step) sum += data[at] * weights[k];
  return Math.max(0, Math.min(255, sum >> PRECISION));
}

function resizeNearest(
  { width, height, channels, data }: Image8,
  newWidth: number,
  newHeight: number,
): Image8 {
  const columns = nearestPositions(width, newWidth);
  const rows = nearestPositions(height, newHeight);
  const out = new Uint8Array(newWidth * newHeight * channels);
  let at = 0;
  for (const y of rows) {
    for (const x of columns) {
      const from = (y * width + x) * channels;
      for (let c = 0; c < channels; c++) out[at++] = data[from + c];
    }
  }
  return { width: newWidth, height: newHeight, channels, data: out };
}

/** The position is summed step by step, as Pillow does, so that ties fall to the same side. */
function nearestPositions(size: number, newSize: number): number[] {
  const step = size / newSize;
  let x = step * 0.5;
  return Array.from({ length: newSize }, () => {
    const position = Math.min(size - 1, Math.floor(x));
    x += step;
    return position;
  });
}
