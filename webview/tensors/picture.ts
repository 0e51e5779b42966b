/** Sizes of a picture and its tick marks. No DOM. */

export interface PictureSpace {
  /** What the view offers, in CSS pixels. */
  width: number;
  height: number;
}

const LARGEST_CELL = 22;
const SMALLEST_HEIGHT = 96;

/**
 * The size in CSS pixels at which a plane of elements is drawn: as wide as there is room, cells roughly square,
 * never so flat that rows can't be told apart.
 */
export function pictureSize(rowCount: number, columnCount: number, space: PictureSpace): PictureSpace {
  const cellWidth = Math.min(LARGEST_CELL, space.width / Math.max(1, columnCount));
  const width = Math.max(1, Math.round(cellWidth * columnCount));
  const least = Math.min(LARGEST_CELL, SMALLEST_HEIGHT / Math.max(1, rowCount));
  const height = Math.round(rowCount * Math.max(cellWidth, least));
  return { width, height: Math.max(1, Math.min(space.height, height)) };
}

/** Round indices along an axis of `count` elements from `start`, at most `most` of them. */
export function axisTicks(start: number, count: number, most: number): number[] {
  if (count <= 0) return [];
  const limit = Math.max(1, most);
  const step = roundStep(count / limit);
  const ticks: number[] = [];
  for (let tick = Math.ceil(start / step) * step; tick < start + count; tick += step) ticks.push(tick);
  return ticks;
}

/** The least of 1, 2, 5, 10, 20, ... that is not below `least`. */
function roundStep(least: number): number {
  if (least <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const digit = least / power;
  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/** Points of a one-row picture as an SVG path; gaps where a value is not finite. `y` runs 0 (top) .. 1. */
export function curvePath(cells: Float32Array, from: number, to: number): string {
  const span = to - from || 1;
  let path = '';
  let pen = false;
  cells.forEach((value, i) => {
    if (!Number.isFinite(value)) {
      pen = false;
      return;
    }
    const y = 1 - (value - from) / span;
    path += `${pen ? 'L' : 'M'}${i + 0.5} ${Number(y.toFixed(4))}`;
    pen = true;
  });
  return path;
}
