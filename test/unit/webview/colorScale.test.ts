import { describe, expect, it } from 'vitest';
import { makeScale, smallestMagnitude, TABLE_SIZE } from '../../../webview/tensors/colorScale';
import { patternColor, rasterize } from '../../../webview/tensors/raster';
import { mix, parseColor, toCss } from '../../../webview/ui/color';

const BLACK = { r: 0, g: 0, b: 0 };
const WHITE = { r: 255, g: 255, b: 255 };
const palette = {
  ground: BLACK,
  foreground: WHITE,
  low: { r: 0, g: 0, b: 255 },
  high: { r: 255, g: 200, b: 0 },
};
const spread = (min: number | null, max: number | null, mean = 0, std = 1) => ({ min, max, mean, std });

describe('colours', () => {
  it.each([
    ['#59a4f9', { r: 0x59, g: 0xa4, b: 0xf9 }],
    ['#fff', WHITE],
    [' rgb(1, 2, 3) ', { r: 1, g: 2, b: 3 }],
    ['rgb(10 20 30 / 100%)', { r: 10, g: 20, b: 30 }],
    ['blue', undefined],
    ['#12345', undefined],
    ['', undefined],
  ])('%s', (text, expected) => expect(parseColor(text)).toEqual(expected));

  it('lie over the ground when they are translucent', () => {
    expect(parseColor('rgba(255, 255, 255, 0.5)', BLACK)).toEqual({ r: 127.5, g: 127.5, b: 127.5 });
    expect(parseColor('#ffffff00', BLACK)).toEqual(BLACK);
  });

  it('mix from one end to the other', () => {
    expect(toCss(mix(BLACK, WHITE, 0))).toBe('rgb(0, 0, 0)');
    expect(toCss(mix(BLACK, WHITE, 1))).toBe('rgb(255, 255, 255)');
    expect(toCss(mix(palette.low, palette.high, 1))).toBe(toCss(palette.high));
  });
});

describe('scales', () => {
  it('centre signed values on zero', () => {
    const scale = makeScale('linear', spread(-1, 4), 0.1, palette);
    expect(scale.kind).toBe('diverging');
    expect([-4, 0, 4, 2].map(scale.position)).toEqual([0, 0.5, 1, 0.75]);
    expect(scale.ticks.map((tick) => tick.value)).toEqual([-4, -2, 0, 2, 4]);
  });
  it('span the range of values of one sign', () => {
    const scale = makeScale('linear', spread(2, 4), 2, palette);
    expect(scale.kind).toBe('sequential');
    expect([2, 3, 4, 9].map(scale.position)).toEqual([0, 0.5, 1, 1]);
  });
  it('grow stronger away from zero for negative values too', () => {
    const scale = makeScale('linear', spread(-10, -2), 2, palette);
    expect([-10, -2].map(scale.position)).toEqual([0, 1]);
    const blue = (at: number) => scale.table[3 * at + 2];
    expect(blue(60)).toBeGreaterThan(blue(TABLE_SIZE - 1));
  });
  it('bend where most values are small beside the largest, and say so', () => {
    expect(makeScale('auto', spread(0, 1, 0.5), 0.1, palette).curve).toBe('linear');
    const bent = makeScale('auto', spread(0, 1, 0.03), 0.1, palette);
    expect(bent.curve).toBe('root');
    expect(bent.position(0.25)).toBe(0.5);
    expect(bent.ticks[1]).toEqual({ at: 0.5, value: 0.25 });
    expect(makeScale('auto', spread(-9, 9, 0, 0.5), 0.1, palette).curve).toBe('root');
  });
  it('of the logarithm begin at the least magnitude, within eight decades', () => {
    const scale = makeScale('log', spread(-100, 1), 0.01, palette);
    expect(scale.ticks.map((tick) => Number(tick.value.toPrecision(6)))).toEqual([0.01, 1, 100]);
    expect([-100, 0.01, 0].map(scale.position)).toEqual([1, 0, 0]);
    expect(makeScale('log', spread(0, 1), 1e-30, palette).ticks[0].value).toBeCloseTo(1e-8, 20);
  });
  it('of a flat or empty window do not divide by zero', () => {
    for (const flat of [spread(0, 0), spread(5, 5), spread(null, null), spread(-2, -2)]) {
      for (const choice of ['auto', 'linear', 'root', 'log'] as const) {
        const scale = makeScale(choice, flat, Infinity, palette);
        expect(scale.position(flat.min ?? 0)).toBeGreaterThanOrEqual(0);
        expect(scale.ticks.every((tick) => Number.isFinite(tick.value))).toBe(true);
      }
    }
  });
  it('find the least magnitude', () => {
    expect(smallestMagnitude(Float32Array.from([0, -0.5, 2, Number.NaN]))).toBe(0.5);
    expect(smallestMagnitude(new Float32Array(3))).toBe(Infinity);
  });
});

describe('pixels', () => {
  const colors = { ground: BLACK, nan: { r: 255, g: 0, b: 0 }, inf: { r: 128, g: 0, b: 255 } };
  const scale = makeScale('linear', spread(0, 1), 1, palette);
  const at = (pixels: Uint8ClampedArray, i: number) => [...pixels.subarray(4 * i, 4 * i + 4)];

  it('are blocks of one colour per cell', () => {
    const pixels = rasterize(
      Float32Array.from([0, 1]),
      1,
      2,
      { width: 4, height: 2, ratio: 1 },
      scale,
      colors,
    );
    expect(at(pixels, 0)).toEqual(at(pixels, 5));
    expect(at(pixels, 2)).toEqual(at(pixels, 7));
    expect(at(pixels, 0)).not.toEqual(at(pixels, 2));
    expect(at(pixels, 0)[3]).toBe(255);
  });
  it('of NaN and Inf carry different patterns, in their own colours', () => {
    const pattern = (kind: 'nan' | 'inf') =>
      Array.from(
        { length: 100 },
        (_, i) => patternColor(kind, i % 10, Math.floor(i / 10), 1, colors) === colors.ground,
      );
    expect(pattern('nan')).toContain(true);
    expect(pattern('nan')).toContain(false);
    expect(pattern('nan')).not.toEqual(pattern('inf'));
    const pixels = rasterize(
      Float32Array.from([Number.NaN, -Infinity]),
      1,
      2,
      { width: 40, height: 20, ratio: 1 },
      scale,
      colors,
    );
    const seen = new Set(Array.from({ length: 800 }, (_, i) => at(pixels, i).slice(0, 3).join()));
    expect([...seen].sort()).toEqual(['0,0,0', '128,0,255', '255,0,0']);
  });
});
