import { describe, expect, test } from 'vitest';
import { decodeImage } from '../../../runtime/image/decode';
import { type Interpolation, resize } from '../../../runtime/image/resize';
import { expected, image, maxDifference, unpack } from './fixtures';

describe('resize equals Pillow to the last integer', () => {
  test.each(expected.resize)('$file to $width x $height, $interpolation', (c) => {
    const source = decodeImage(image(c.file));
    const out = resize(source, c.width, c.height, c.interpolation);
    expect(maxDifference(out.data, unpack(c.data))).toBe(0);
  });
});

test.each<Interpolation>(['nearest', 'bilinear', 'bicubic'])(
  '%s keeps a constant image constant',
  (interpolation) => {
    const flat = { width: 9, height: 5, channels: 1 as const, data: new Uint8Array(45).fill(201) };
    for (const [w, h] of [
      [3, 2],
      [20, 31],
      [1, 1],
    ])
      expect(new Set(resize(flat, w, h, interpolation).data)).toEqual(new Set([201]));
  },
);

test('an image of the right size is not touched', () => {
  const source = decodeImage(image('photo.png'));
  expect(resize(source, source.width, source.height, 'bicubic')).toBe(source);
});
