/** Upsampling of subsampled JPEG colour with a triangle filter, rounded as libjpeg's "fancy upsampling" does. */
import type { JpegHeader } from './jpegHeader';

interface Plane {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/**
 * Replaces repeated colour samples by smoothed ones in interleaved three-component data (height x width x 3). Only
 * halved components are smoothed; others stay repeated.
 */
export function smoothChroma(data: Uint8Array, { width, height, components }: JpegHeader): void {
  const maxH = Math.max(...components.map(({ h }) => h));
  const maxV = Math.max(...components.map(({ v }) => v));
  components.forEach(({ h, v }, channel) => {
    const [fx, fy] = [maxH / h, maxV / v];
    const smooth = (fx === 2 && (fy === 1 || fy === 2)) || (fx === 1 && fy === 2);
    const plane = smooth ? samples(data, width, height, channel, fx, fy) : undefined;
    if (!plane || (fx === 2 && plane.width <= 2)) return;
    for (let y = 0; y < height; y++) {
      const row = fy === 2 ? mixedRow(plane, y) : plainRow(plane, y);
      writeRow(data, y, width, channel, row, fx, fy);
    }
  });
}

/** The component as it was stored: every second sample of the repeated ones. */
function samples(
  data: Uint8Array,
  width: number,
  height: number,
  channel: number,
  fx: number,
  fy: number,
): Plane {
  const plane = { width: Math.ceil(width / fx), height: Math.ceil(height / fy) };
  const out = new Uint8Array(plane.width * plane.height);
  let at = 0;
  for (let y = 0; y < plane.height; y++)
    for (let x = 0; x < plane.width; x++) out[at++] = data[(y * fy * width + x * fx) * 3 + channel];
  return { ...plane, data: out };
}

function plainRow({ width, data }: Plane, y: number): ArrayLike<number> {
  return data.subarray(y * width, (y + 1) * width);
}

/** 3/4 of the nearer stored row and 1/4 of the one beyond, times 4. */
function mixedRow({ width, height, data }: Plane, y: number): ArrayLike<number> {
  const near = y >> 1;
  const far = Math.min(height - 1, Math.max(0, near + (y % 2 === 0 ? -1 : 1)));
  const row = new Uint16Array(width);
  for (let x = 0; x < width; x++) row[x] = 3 * data[near * width + x] + data[far * width + x];
  return row;
}

function writeRow(
  data: Uint8Array,
  y: number,
  width: number,
  channel: number,
  row: ArrayLike<number>,
  fx: number,
  fy: number,
): void {
  const last = row.length - 1;
  const bits = (fx === 2 ? 2 : 0) + (fy === 2 ? 2 : 0);
  for (let x = 0; x < width; x++) {
    const odd = (fx === 2 ? x : y) % 2;
    const value = fx === 2 ? mixedColumn(row, x, last) : row[x];
    data[(y * width + x) * 3 + channel] = (value + rounding(bits, odd)) >> bits;
  }
}

/** 3/4 of the nearer sample and 1/4 of the one beyond, times 4; the border stands for what lies outside. */
function mixedColumn(row: ArrayLike<number>, x: number, last: number): number {
  const near = x >> 1;
  const far = Math.min(last, Math.max(0, near + (x % 2 === 0 ? -1 : 1)));
  return 3 * row[near] + row[far];
}

/** Alternates so that rounding has no bias: 1 and 2 of 4, 8 and 7 of 16. */
function rounding(bits: number, odd: number): number {
  if (bits === 2) return odd ? 2 : 1;
  return odd ? 7 : 8;
}
