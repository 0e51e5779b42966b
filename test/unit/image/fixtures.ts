import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzlibSync } from 'fflate';
import { type ByteSource, bytesSource } from '../../../runtime/checkpoint/source';
import type { Interpolation } from '../../../runtime/image/resize';

export const FOLDER = join(__dirname, '../../fixtures/image');

export interface Decoded {
  width: number;
  height: number;
  mode: string;
  rgb: string;
}

export interface Resized {
  file: string;
  width: number;
  height: number;
  interpolation: Interpolation;
  data: string;
}

export interface Chain {
  file: string;
  resize: number | null;
  crop: number | null;
  interpolation: Interpolation;
  channels: 1 | 3;
  shape: number[];
  data: string;
}

/** What Pillow and torchvision made of the images; see make.py beside them. */
export const expected: { decode: Record<string, Decoded>; resize: Resized[]; preprocess: Chain[] } =
  JSON.parse(readFileSync(join(FOLDER, 'expected.json'), 'utf8'));

export function unpack(text: string): Uint8Array {
  return unzlibSync(Buffer.from(text, 'base64'));
}

export function image(name: string): ByteSource {
  return bytesSource(new Uint8Array(readFileSync(join(FOLDER, name))), name);
}

export function maxDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let most = 0;
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i] - b[i]));
  return most;
}

export function meanDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs(a[i] - b[i]);
  return sum / a.length;
}
