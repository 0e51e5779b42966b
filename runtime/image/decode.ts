import { InputError } from '../checkpoint/errors';
import { describeForeign } from '../checkpoint/foreign';
import type { ByteSource } from '../checkpoint/source';
import type { DecodedImage } from './image';
import { decodeJpeg } from './jpeg';
import { looksLikeJpeg } from './jpegHeader';
import { decodePng, looksLikePng } from './png';

export function looksLikeImage(source: ByteSource): boolean {
  return looksLikePng(source) || looksLikeJpeg(source);
}

/** Decodes a PNG or JPEG, known by its first bytes. Throws an InputError. */
export function decodeImage(source: ByteSource): DecodedImage {
  if (looksLikePng(source)) return decodePng(source);
  if (looksLikeJpeg(source)) return decodeJpeg(source);
  const what = describeForeign(source) ?? 'neither a PNG nor a JPEG. Save the image in one of these formats.';
  throw new InputError(`${source.name} is ${what}`);
}
