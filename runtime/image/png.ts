/** PNG to grey or RGB as Pillow's convert("RGB") does: alpha is dropped, colour profiles and gamma are not applied. */
import { decode } from 'fast-png';
import { Unzlib } from 'fflate';
import { formatCount } from '../../src/protocol/numbers';
import { InputError } from '../checkpoint/errors';
import { type ByteSource, dataView } from '../checkpoint/source';
import { type DecodedImage, MAX_PIXELS, tooLarge } from './image';

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** Samples per pixel by colour type. */
const SAMPLES: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const DEPTHS: Record<number, number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
const PALETTE = 3;
/** Bytes unpacked at a time; they become at most 1032 times as many before they are counted. */
const STEP = 1 << 14;
const NEEDED = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND']);

interface Header {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly colour: number;
  readonly interlaced: boolean;
}

interface Chunk {
  readonly type: string;
  /** With length, type and checksum. */
  readonly whole: Uint8Array;
  readonly data: Uint8Array;
}

export function looksLikePng(source: ByteSource): boolean {
  return source.size >= 8 && source.read(0, 8).every((byte, i) => byte === SIGNATURE[i]);
}

/** Decodes a PNG. Throws an InputError; sizes are checked before anything is unpacked. */
export function decodePng(source: ByteSource): DecodedImage {
  const chunks = readChunks(source);
  const header = readHeader(source, chunks[0]);
  checkData(source, header, chunks);
  const needed = chunks.filter(({ type }) => NEEDED.has(type)).map(({ whole }) => whole);
  let decoded: ReturnType<typeof decode>;
  try {
    decoded = decode(concat([Uint8Array.from(SIGNATURE), ...needed]));
  } catch (error) {
    throw damaged(source, error instanceof Error ? error.message : 'it cannot be decoded');
  }
  return toImage(source, header, decoded.data, decoded.palette);
}

function readChunks(source: ByteSource): Chunk[] {
  const bytes = source.read(0, source.size);
  const view = dataView(bytes);
  const chunks: Chunk[] = [];
  for (let at = 8; chunks.at(-1)?.type !== 'IEND'; ) {
    const length = at + 12 <= bytes.length ? view.getUint32(at, false) : Number.POSITIVE_INFINITY;
    if (at + 12 + length > bytes.length) throw damaged(source, 'it is cut short');
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    chunks.push({
      type,
      whole: bytes.subarray(at, at + 12 + length),
      data: bytes.subarray(at + 8, at + 8 + length),
    });
    at += 12 + length;
  }
  return chunks;
}

function readHeader(source: ByteSource, { type, data }: Chunk): Header {
  if (type !== 'IHDR' || data.length !== 13) throw damaged(source, 'it does not start with its header');
  const view = dataView(data);
  const [width, height] = [view.getUint32(0, false), view.getUint32(4, false)];
  const [depth, colour, interlace] = [data[8], data[9], data[12]];
  if (width === 0 || height === 0) throw damaged(source, `its size is ${width} x ${height}`);
  if (!DEPTHS[colour]?.includes(depth))
    throw damaged(source, `colour type ${colour} with ${depth} bits is not PNG`);
  if (width * height > MAX_PIXELS) throw tooLarge(source, width, height);
  if (interlace === 1 && depth < 8) {
    throw new InputError(
      `${source.name} is an interlaced PNG with ${depth} bits per sample, which is not read. Save it without interlacing.`,
    );
  }
  return { width, height, depth, colour, interlaced: interlace === 1 };
}

/** The image data must unpack to exactly what the header needs; it is counted before it is kept. */
function checkData(source: ByteSource, header: Header, chunks: readonly Chunk[]): void {
  const data = chunks.filter(({ type }) => type === 'IDAT');
  if (header.colour === PALETTE && !chunks.some(({ type }) => type === 'PLTE'))
    throw damaged(source, 'it has no palette');
  if (chunks.filter(({ type }) => type === 'IHDR').length > 1) throw damaged(source, 'it has two headers');
  const expected = packedRows(header);
  let size = 0;
  const counter = new Unzlib((chunk) => {
    size += chunk.length;
    if (size > expected + 1024) throw damaged(source, 'it holds more pixels than its header says');
  });
  try {
    for (const { data: packed } of data) {
      for (let i = 0; i < packed.length; i += STEP) counter.push(packed.subarray(i, i + STEP));
    }
  } catch (error) {
    throw error instanceof InputError ? error : damaged(source, 'its compressed data is broken');
  }
  if (size < expected)
    throw damaged(source, `it holds ${formatCount(size)} of ${formatCount(expected)} bytes of pixels`);
}

/** Unpacked bytes: each row has a filter byte and is padded to whole bytes. */
function packedRows({ width, height, depth, colour, interlaced }: Header): number {
  const rows = (w: number, h: number) =>
    w > 0 && h > 0 ? h * (1 + Math.ceil((w * depth * SAMPLES[colour]) / 8)) : 0;
  if (!interlaced) return rows(width, height);
  const passes = ['0088', '4088', '0448', '2044', '0224', '1022', '0112']; // x, y, step x, step y of Adam7
  return passes.reduce((sum, pass) => {
    const [x, y, stepX, stepY] = [...pass].map(Number);
    return sum + rows(Math.ceil((width - x) / stepX), Math.ceil((height - y) / stepY));
  }, 0);
}

function toImage(
  source: ByteSource,
  { width, height, depth, colour }: Header,
  data: ArrayLike<number>,
  palette: number[][] | undefined,
): DecodedImage {
  const notes: string[] = [];
  const samples = SAMPLES[colour];
  if (colour >= 4) notes.push('alpha dropped');
  if (depth === 16) notes.push('16 bits per sample reduced to 8');
  const channels = colour === 0 || colour === 4 ? 1 : 3;
  const out = new Uint8Array(width * height * channels);
  const sample = sampler(data, width, depth, samples);
  let at = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const entry = colour === PALETTE ? palette?.[sample(y, x, 0)] : undefined;
      if (colour === PALETTE && !entry) throw damaged(source, 'a pixel lies outside its palette');
      for (let c = 0; c < channels; c++) out[at++] = entry ? entry[c] : sample(y, x, c);
    }
  }
  if (depth < 8 && colour === 0) scaleGrey(out, 255 / (2 ** depth - 1));
  return { width, height, channels, data: out, notes };
}

/** Reads one sample, of 8 bits or less, from rows as PNG packs them. */
function sampler(data: ArrayLike<number>, width: number, depth: number, samples: number) {
  if (depth === 16) return (y: number, x: number, c: number) => data[(y * width + x) * samples + c] >> 8;
  if (depth === 8) return (y: number, x: number, c: number) => data[(y * width + x) * samples + c];
  const rowBytes = Math.ceil((width * depth) / 8);
  const perByte = 8 / depth;
  const mask = 2 ** depth - 1;
  return (y: number, x: number) => {
    const byte = data[y * rowBytes + Math.floor(x / perByte)];
    return (byte >> (8 - depth * ((x % perByte) + 1))) & mask;
  };
}

function scaleGrey(data: Uint8Array, factor: number): void {
  for (let i = 0; i < data.length; i++) data[i] *= factor;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function damaged(source: ByteSource, what: string): InputError {
  return new InputError(`${source.name} is a damaged PNG: ${what}. Copy or save it again.`);
}
