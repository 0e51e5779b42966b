/**
 * JPEG to grey or RGB as Pillow (libjpeg) does. The EXIF orientation is ignored, as torchvision's datasets do.
 * jpeg-js repeats subsampled colour; libjpeg smooths it, so here the planes are taken raw and smoothed likewise.
 */
import { decode } from 'jpeg-js';
import { InputError } from '../checkpoint/errors';
import type { ByteSource } from '../checkpoint/source';
import { smoothChroma } from './chroma';
import type { DecodedImage } from './image';
import { damagedJpeg, type JpegHeader, readJpegHeader } from './jpegHeader';

/** Decodes a JPEG. Throws an InputError; sizes are checked by the header first. */
export function decodeJpeg(source: ByteSource): DecodedImage {
  const header = readJpegHeader(source);
  const { width, height, components } = header;
  if (components.length === 4) return decodeCmyk(source, header);
  const data = decodeRaw(source, header, header.stripped);
  if (components.length === 1) {
    return { width, height, channels: 1, data: everyThird(data), notes: [] };
  }
  smoothChroma(data, header);
  if (isYcc(header)) yccToRgb(data);
  return { width, height, channels: 3, data, notes: [] };
}

function decodeCmyk(source: ByteSource, header: JpegHeader): DecodedImage {
  if (header.adobe === undefined) {
    throw new InputError(
      `${source.name} is a JPEG of four colours that does not say which. Save it as RGB, or as PNG.`,
    );
  }
  const data = decodeRaw(source, header, source.read(0, source.size));
  return { width: header.width, height: header.height, channels: 3, data, notes: ['CMYK converted to RGB'] };
}

/** Three values a pixel, without colour transform unless the file has an Adobe segment. */
function decodeRaw(source: ByteSource, { width, height }: JpegHeader, bytes: Uint8Array): Uint8Array {
  try {
    const decoded = decode(bytes, {
      useTArray: true,
      colorTransform: false,
      formatAsRGBA: false,
      tolerantDecoding: false,
      maxResolutionInMP: (width * height) / 1e6,
      maxMemoryUsageInMB: 2048,
    });
    if (decoded.width !== width || decoded.height !== height) throw new Error('its size is told twice');
    return decoded.data;
  } catch (error) {
    throw damagedJpeg(source, error instanceof Error ? error.message : 'it cannot be decoded');
  }
}

function everyThird(data: Uint8Array): Uint8Array {
  const out = new Uint8Array(data.length / 3);
  for (let i = 0; i < out.length; i++) out[i] = data[3 * i];
  return out;
}

/** Which colours three components are, by the rules of libjpeg. */
function isYcc({ jfif, adobe, components }: JpegHeader): boolean {
  if (jfif) return true;
  if (adobe !== undefined) return adobe !== 0;
  return String.fromCharCode(...components.map(({ id }) => id)) !== 'RGB';
}

/** JFIF's YCbCr in place, in 16-bit fixed point. */
function yccToRgb(data: Uint8Array): void {
  const half = 1 << 15;
  for (let i = 0; i + 2 < data.length; i += 3) {
    const [y, cb, cr] = [data[i], data[i + 1] - 128, data[i + 2] - 128];
    data[i] = clamp(y + ((91881 * cr + half) >> 16));
    data[i + 1] = clamp(y + ((-22554 * cb - 46802 * cr + half) >> 16));
    data[i + 2] = clamp(y + ((116130 * cb + half) >> 16));
  }
}

function clamp(x: number): number {
  return Math.max(0, Math.min(255, x));
}
