/** Colours as the theme writes them, and mixing that looks even to the eye. No DOM. */

export interface Rgb {
  r: number;
  g: number;
  b: number;
}

/** Reads `#rgb`, `#rrggbb`, `#rrggbbaa`, `rgb()` and `rgba()`; a translucent colour is laid over `ground`. */
export function parseColor(text: string, ground?: Rgb): Rgb | undefined {
  const parsed = parseHex(text.trim()) ?? parseFunction(text.trim());
  if (!parsed) return undefined;
  const [r, g, b, alpha] = parsed;
  if (alpha >= 1 || !ground) return { r, g, b };
  const over = (top: number, below: number) => top * alpha + below * (1 - alpha);
  return { r: over(r, ground.r), g: over(g, ground.g), b: over(b, ground.b) };
}

type Parsed = [r: number, g: number, b: number, alpha: number];

function parseHex(text: string): Parsed | undefined {
  const digits = /^#([0-9a-f]{3,8})$/i.exec(text)?.[1];
  if (!digits || digits.length === 5 || digits.length === 7) return undefined;
  const long = digits.length < 6 ? [...digits].map((c) => c + c).join('') : digits;
  const byte = (at: number) => Number.parseInt(long.slice(at, at + 2), 16);
  return [byte(0), byte(2), byte(4), long.length === 8 ? byte(6) / 255 : 1];
}

function parseFunction(text: string): Parsed | undefined {
  const inside = /^rgba?\(([^)]*)\)$/i.exec(text)?.[1];
  const parts = inside?.split(/[\s,/]+/).filter(Boolean);
  if (!parts || parts.length < 3) return undefined;
  const number = (part: string, full: number) =>
    part.endsWith('%') ? (Number.parseFloat(part) / 100) * full : Number.parseFloat(part);
  const [r, g, b] = parts.slice(0, 3).map((part) => number(part, 255));
  const alpha = parts[3] === undefined ? 1 : number(parts[3], 1);
  return [r, g, b, alpha].every(Number.isFinite) ? [r, g, b, alpha] : undefined;
}

/** `share` of `b` in `a`, mixed in OKLab so that equal shares look like equal steps. */
export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const from = toOklab(a);
  const to = toOklab(b);
  return fromOklab([
    from[0] + (to[0] - from[0]) * share,
    from[1] + (to[1] - from[1]) * share,
    from[2] + (to[2] - from[2]) * share,
  ]);
}

export function toCss(color: Rgb): string {
  return `rgb(${Math.round(color.r)}, ${Math.round(color.g)}, ${Math.round(color.b)})`;
}

type Lab = [number, number, number];

function toOklab({ r, g, b }: Rgb): Lab {
  const [lr, lg, lb] = [linear(r), linear(g), linear(b)];
  const l = Math.cbrt(0.4122214708 * lr + 0.5363325363 * lg + 0.0514459929 * lb);
  const m = Math.cbrt(0.2119034982 * lr + 0.6806995451 * lg + 0.1073969566 * lb);
  const s = Math.cbrt(0.0883024619 * lr + 0.2817188376 * lg + 0.6299787005 * lb);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromOklab([lightness, a, b]: Lab): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return {
    r: gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    g: gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    b: gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  };
}

function linear(byte: number): number {
  const x = byte / 255;
  return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
}

function gamma(x: number): number {
  const y = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
  return Math.min(255, Math.max(0, y * 255));
}
