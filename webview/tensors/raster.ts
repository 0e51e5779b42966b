/** Cells to pixels, with the patterns of what is not finite. No DOM. */
import type { Rgb } from '../ui/color';
import { type Scale, TABLE_SIZE } from './colorScale';

export interface RasterSize {
  /** In device pixels. */
  width: number;
  height: number;
  /** Device pixels per CSS pixel: keeps the patterns equally coarse on every screen. */
  ratio: number;
}

export interface RasterColors {
  ground: Rgb;
  nan: Rgb;
  inf: Rgb;
}

/** RGBA bytes of the picture: one block of pixels per cell. NaN is hatched, Inf is crossed. */
export function rasterize(
  cells: Float32Array,
  rows: number,
  columns: number,
  size: RasterSize,
  scale: Scale,
  colors: RasterColors,
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(size.width * size.height * 4);
  const columnOf = cellPerPixel(size.width, columns);
  const rowOf = cellPerPixel(size.height, rows);
  const tableIndex = Int16Array.from(cells, (value) =>
    Number.isFinite(value)
      ? 3 * Math.round(scale.position(value) * (TABLE_SIZE - 1))
      : Number.isNaN(value)
        ? -1
        : -2,
  );
  for (let y = 0, at = 0; y < size.height; y++) {
    const row = rowOf[y] * columns;
    for (let x = 0; x < size.width; x++, at += 4) {
      const index = tableIndex[row + columnOf[x]];
      if (index >= 0) {
        pixels[at] = scale.table[index];
        pixels[at + 1] = scale.table[index + 1];
        pixels[at + 2] = scale.table[index + 2];
      } else {
        const color = patternColor(index === -1 ? 'nan' : 'inf', x, y, size.ratio, colors);
        pixels[at] = color.r;
        pixels[at + 1] = color.g;
        pixels[at + 2] = color.b;
      }
      pixels[at + 3] = 255;
    }
  }
  return pixels;
}

function cellPerPixel(pixels: number, cells: number): Int32Array {
  return Int32Array.from({ length: pixels }, (_, i) => Math.min(cells - 1, Math.floor((i * cells) / pixels)));
}

/** Diagonal hatching for NaN, a grid of crosses for Inf: told apart without seeing colours. */
export function patternColor(
  kind: 'nan' | 'inf',
  x: number,
  y: number,
  ratio: number,
  colors: RasterColors,
): Rgb {
  const period = Math.max(4, Math.round(5 * ratio));
  const line = Math.max(1, Math.round(1.4 * ratio));
  if (kind === 'nan') return (x + y) % period < line ? colors.ground : colors.nan;
  const diagonal = (x + y) % period < line || (((x - y) % period) + period) % period < line;
  return diagonal ? colors.ground : colors.inf;
}
