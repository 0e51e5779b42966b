import { formatCount } from '../../src/protocol/numbers';
import { InputError } from '../checkpoint/errors';
import type { ByteSource } from '../checkpoint/source';

/** An 8-bit image, interleaved: data[(y * width + x) * channels + c]. 1 channel is grey, 3 are RGB. */
export interface Image8 {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3;
  readonly data: Uint8Array;
}

/** A decoded file; `notes` say what was left out or changed on the way to RGB. */
export interface DecodedImage extends Image8 {
  readonly notes: string[];
}

/** Larger images are refused by their header, before anything is decoded. */
export const MAX_PIXELS = 100_000_000;

export function tooLarge(source: ByteSource, width: number, height: number, limit = MAX_PIXELS): InputError {
  return new InputError(
    `${source.name} is ${formatCount(width)} x ${formatCount(height)} pixels, more than the ${limit / 1e6} million ` +
      'that are decoded. Scale it down first; the model sees a few hundred pixels a side.',
  );
}

/** Grey from RGB by ITU-R 601-2, with the integer weights that Pillow's convert("L") uses. */
export function toGrey(image: Image8): Image8 {
  if (image.channels === 1) return image;
  const { width, height, data } = image;
  const out = new Uint8Array(width * height);
  for (let i = 0, j = 0; i < out.length; i++, j += 3)
    out[i] = (data[j] * 19595 + data[j + 1] * 38470 + data[j + 2] * 7471 + 0x8000) >> 16;
  return { width, height, channels: 1, data: out };
}

export function toRgb(image: Image8): Image8 {
  if (image.channels === 3) return image;
  const { width, height, data } = image;
  const out = new Uint8Array(3 * data.length);
  for (let i = 0; i < data.length; i++) out.fill(data[i], 3 * i, 3 * i + 3);
  return { width, height, channels: 3, data: out };
}
