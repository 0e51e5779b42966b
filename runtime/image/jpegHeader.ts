/** What a JPEG says about itself before any pixel is decoded. */
import { formatCount } from '../../src/protocol/numbers';
import { InputError } from '../checkpoint/errors';
import { type ByteSource, dataView } from '../checkpoint/source';
import { tooLarge } from './image';

/** Decoding takes about 25 bytes of memory a pixel. */
const MAX_JPEG_PIXELS = 50_000_000;
const MAX_SCANS = 200;
/** Even an empty 8 x 8 block takes a bit. */
const MAX_PIXELS_PER_BYTE = 512;

const [SOF0, SOF1, SOF2, DHT, JPG, DAC, SOI, EOI, SOS] = [
  0xc0, 0xc1, 0xc2, 0xc4, 0xc8, 0xcc, 0xd8, 0xd9, 0xda,
];
const [APP0, APP14, COM] = [0xe0, 0xee, 0xfe];

export interface JpegComponent {
  readonly id: number;
  /** Samples per block of pixels, across and down. */
  readonly h: number;
  readonly v: number;
}

export interface JpegHeader {
  readonly width: number;
  readonly height: number;
  readonly components: JpegComponent[];
  readonly jfif: boolean;
  /** Colour transform of an Adobe segment: 0 none, 1 YCbCr, 2 YCCK. */
  readonly adobe: number | undefined;
  /** The file without application segments and comments. */
  readonly stripped: Uint8Array;
}

interface Segment {
  readonly marker: number;
  readonly start: number;
  readonly end: number;
}

export function looksLikeJpeg(source: ByteSource): boolean {
  if (source.size < 3) return false;
  const [a, b, c] = source.read(0, 3);
  return a === 0xff && b === SOI && c === 0xff;
}

/** Walks the segments. Throws an InputError for kinds of JPEG that are not decoded and for absurd sizes. */
export function readJpegHeader(source: ByteSource): JpegHeader {
  const bytes = source.read(0, source.size);
  const segments = readSegments(source, bytes);
  const frames = segments.filter(({ marker }) => isFrame(marker));
  if (frames.length !== 1) throw damagedJpeg(source, `it has ${frames.length} images`);
  const scans = segments.filter(({ marker }) => marker === SOS).length;
  if (scans === 0 || scans > MAX_SCANS) throw damagedJpeg(source, `it has ${formatCount(scans)} scans`);
  const frame = readFrame(source, bytes, frames[0]);
  const adobe = segments.find((s) => s.marker === APP14 && startsWith(bytes, s, 'Adobe'));
  return {
    ...frame,
    jfif: segments.some((s) => s.marker === APP0 && startsWith(bytes, s, 'JFIF')),
    adobe: adobe && adobe.end - adobe.start >= 16 ? bytes[adobe.start + 15] : undefined,
    stripped: strip(bytes, segments),
  };
}

function readSegments(source: ByteSource, bytes: Uint8Array): Segment[] {
  const segments: Segment[] = [];
  let at = 2;
  for (;;) {
    while (at < bytes.length && bytes[at] === 0xff && bytes[at + 1] === 0xff) at++; // fill bytes
    if (at + 2 > bytes.length) throw damagedJpeg(source, 'it is cut short');
    const marker = bytes[at + 1];
    if (bytes[at] !== 0xff) throw damagedJpeg(source, `there is no marker at byte ${at}`);
    if (marker === EOI) return segments;
    const end =
      at + 4 <= bytes.length ? at + 2 + dataView(bytes).getUint16(at + 2, false) : Number.POSITIVE_INFINITY;
    if (end > bytes.length || end < at + 4) throw damagedJpeg(source, 'it is cut short');
    segments.push({ marker, start: at, end });
    at = marker === SOS ? skipScan(bytes, end) : end;
  }
}

/** Entropy-coded data ends at a marker that is neither a stuffed zero nor a restart. */
function skipScan(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const next = bytes[at + 1];
    if (bytes[at] === 0xff && next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) break;
    at++;
  }
  return at;
}

function isFrame(marker: number): boolean {
  return marker >= SOF0 && marker <= 0xcf && marker !== DHT && marker !== JPG && marker !== DAC;
}

function readFrame(source: ByteSource, bytes: Uint8Array, { marker, start, end }: Segment) {
  if (marker !== SOF0 && marker !== SOF1 && marker !== SOF2) {
    throw new InputError(
      `${source.name} is a lossless or arithmetic-coded JPEG (marker 0xff${marker.toString(16)}), which is not read. Save it as PNG.`,
    );
  }
  const count = bytes[start + 9];
  if (end - start !== 10 + 3 * count) throw damagedJpeg(source, 'its frame header is broken');
  const view = dataView(bytes);
  const [height, width] = [view.getUint16(start + 5, false), view.getUint16(start + 7, false)];
  const components = Array.from({ length: count }, (_, i) => {
    const at = start + 10 + 3 * i;
    return { id: bytes[at], h: bytes[at + 1] >> 4, v: bytes[at + 1] & 15 };
  });
  if (bytes[start + 4] !== 8)
    throw new InputError(
      `${source.name} is a JPEG with ${bytes[start + 4]} bits a sample; only 8 are read. Save it as PNG.`,
    );
  if (![1, 3, 4].includes(count) || components.some(({ h, v }) => h < 1 || h > 4 || v < 1 || v > 4))
    throw damagedJpeg(source, `it has ${count} colour components`);
  checkPixels(source, width, height);
  return { width, height, components };
}

function checkPixels(source: ByteSource, width: number, height: number): void {
  if (width === 0 || height === 0) throw damagedJpeg(source, `its size is ${width} x ${height}`);
  if (width * height > MAX_JPEG_PIXELS) throw tooLarge(source, width, height, MAX_JPEG_PIXELS);
  if (Math.ceil(width / 8) * Math.ceil(height / 8) * 64 > source.size * MAX_PIXELS_PER_BYTE) {
    throw damagedJpeg(
      source,
      `${formatCount(source.size)} bytes cannot hold its ${formatCount(width)} x ${formatCount(height)} pixels`,
    );
  }
}

function startsWith(bytes: Uint8Array, { start, end }: Segment, word: string): boolean {
  if (end - start < 4 + word.length) return false;
  return [...word].every((letter, i) => bytes[start + 4 + i] === letter.charCodeAt(0));
}

/** Drops what decoding does not need. */
function strip(bytes: Uint8Array, segments: readonly Segment[]): Uint8Array {
  const parts: Uint8Array[] = [bytes.subarray(0, 2)];
  segments.forEach(({ marker, start, end }, i) => {
    if ((marker >= APP0 && marker <= 0xef) || marker === COM) return;
    const next = segments[i + 1]?.start ?? bytes.length;
    parts.push(bytes.subarray(start, marker === SOS ? next : end));
  });
  const out = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export function damagedJpeg(source: ByteSource, what: string): InputError {
  return new InputError(`${source.name} is a damaged JPEG: ${what}. Copy or save it again.`);
}
