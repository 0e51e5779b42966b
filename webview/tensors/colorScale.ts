/** Values to colours: zero-centred for signed values, one colour for the others. No DOM. */
import { mix, type Rgb } from '../ui/color';

/** What the person asked for; `auto` takes `root` where most values are small beside the largest. */
export type ScaleChoice = 'auto' | 'linear' | 'root' | 'log';

/** The theme's colours as scales use them. */
export interface Palette {
  ground: Rgb;
  foreground: Rgb;
  low: Rgb;
  high: Rgb;
}

/** The statistics that a scale is chosen by. */
export interface Spread {
  min: number | null;
  max: number | null;
  mean: number | null;
  std: number | null;
}

export interface Scale {
  kind: 'diverging' | 'sequential';
  curve: 'linear' | 'root' | 'log';
  /** Place of a finite value on the bar, 0..1. */
  position(value: number): number;
  /** Numbers under the bar. */
  ticks: { at: number; value: number }[];
  /** 256 colours from left to right, three bytes each. */
  table: Uint8ClampedArray;
}

export const TABLE_SIZE = 256;

/** Log scales span at most this many decades, or a single tiny value would take all the contrast. */
const DECADES = 8;

/** Below this share of the range the typical value would hardly differ from zero on a linear scale. */
const SKEWED = 0.15;

/** The scale for a range of values; `smallest` is the least magnitude above zero, for log scales. */
export function makeScale(choice: ScaleChoice, spread: Spread, smallest: number, palette: Palette): Scale {
  const min = spread.min ?? 0;
  const max = spread.max ?? 0;
  const absmax = Math.max(Math.abs(min), Math.abs(max));
  if (choice === 'log' && absmax > 0) return logScale(absmax, smallest, palette);
  const signed = min < 0 && max > 0;
  const curve = choice === 'root' || (choice === 'auto' && isSkewed(spread, signed)) ? 'root' : 'linear';
  return signed ? divergingScale(absmax, curve, palette) : sequentialScale(min, max, curve, palette);
}

function isSkewed({ min, max, mean, std }: Spread, signed: boolean): boolean {
  if (min === null || max === null || mean === null || std === null || min === max) return false;
  if (signed) return (Math.abs(mean) + std) / Math.max(-min, max) < SKEWED;
  const strong = max <= 0 ? max - mean : mean - min;
  return strong / (max - min) < SKEWED;
}

function divergingScale(absmax: number, curve: 'linear' | 'root', palette: Palette): Scale {
  const bend = curve === 'root' ? Math.sqrt : identity;
  const quarter = curve === 'root' ? absmax / 4 : absmax / 2;
  return {
    kind: 'diverging',
    curve,
    position: (value) => 0.5 + 0.5 * Math.sign(value) * bend(clamp(Math.abs(value) / absmax)),
    ticks: [-absmax, -quarter, 0, quarter, absmax].map((value, i) => ({ at: i / 4, value })),
    table: tableOf((p) =>
      p < 0.5 ? ramp(palette, palette.low, 1 - 2 * p) : ramp(palette, palette.high, 2 * p - 1),
    ),
  };
}

/** All of one sign: the further from the end that is nearest to zero, the stronger the colour. */
function sequentialScale(min: number, max: number, curve: 'linear' | 'root', palette: Palette): Scale {
  if (min === max) return flatScale(min, palette);
  const negative = max <= 0;
  const [weak, strong] = negative ? [max, min] : [min, max];
  const bend = curve === 'root' ? Math.sqrt : identity;
  const share = (value: number) => bend(clamp((value - weak) / (strong - weak)));
  const middle = weak + (strong - weak) * (curve === 'root' ? 0.25 : 0.5);
  return {
    kind: 'sequential',
    curve,
    position: (value) => (negative ? 1 - share(value) : share(value)),
    ticks: [
      { at: 0, value: min },
      { at: 0.5, value: middle },
      { at: 1, value: max },
    ],
    table: tableOf((p) => ramp(palette, palette.low, negative ? 1 - p : p)),
  };
}

function flatScale(value: number, palette: Palette): Scale {
  return {
    kind: 'sequential',
    curve: 'linear',
    position: () => (value === 0 ? 0 : 0.5),
    ticks: [{ at: value === 0 ? 0 : 0.5, value }],
    table: tableOf((p) => ramp(palette, palette.low, p)),
  };
}

function logScale(absmax: number, smallest: number, palette: Palette): Scale {
  const least = smallest > 0 && Number.isFinite(smallest) ? smallest : absmax;
  const floor = Math.max(least, absmax * 10 ** -DECADES);
  const from = floor < absmax ? floor : absmax / 10;
  const span = Math.log(absmax / from);
  return {
    kind: 'sequential',
    curve: 'log',
    position: (value) => (value === 0 ? 0 : clamp(Math.log(Math.abs(value) / from) / span)),
    ticks: [
      { at: 0, value: from },
      { at: 0.5, value: Math.sqrt(from) * Math.sqrt(absmax) },
      { at: 1, value: absmax },
    ],
    table: tableOf((p) => ramp(palette, palette.low, p)),
  };
}

/** From the ground through the hue towards the text's colour, so that lightness only ever grows (or falls). */
function ramp(palette: Palette, hue: Rgb, share: number): Rgb {
  const knee = 0.7;
  return share <= knee
    ? mix(palette.ground, hue, 0.05 + (0.95 * share) / knee)
    : mix(hue, palette.foreground, (0.7 * (share - knee)) / (1 - knee));
}

function tableOf(color: (position: number) => Rgb): Uint8ClampedArray {
  const table = new Uint8ClampedArray(TABLE_SIZE * 3);
  for (let i = 0; i < TABLE_SIZE; i++) {
    const { r, g, b } = color(i / (TABLE_SIZE - 1));
    table.set([Math.round(r), Math.round(g), Math.round(b)], i * 3);
  }
  return table;
}

function clamp(x: number): number {
  return Math.min(1, Math.max(0, x));
}

function identity(x: number): number {
  return x;
}

/** The least finite magnitude above zero; `Infinity` when there is none. */
export function smallestMagnitude(cells: Float32Array): number {
  let smallest = Infinity;
  for (const cell of cells) {
    const magnitude = Math.abs(cell);
    if (magnitude > 0 && magnitude < smallest) smallest = magnitude;
  }
  return smallest;
}
