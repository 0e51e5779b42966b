import { describe, expect, test } from 'vitest';
import { InputError } from '../../../runtime/checkpoint/errors';
import { bytesSource } from '../../../runtime/checkpoint/source';
import { decodeImage } from '../../../runtime/image/decode';
import { toGrey, toRgb } from '../../../runtime/image/image';
import { expected, image, maxDifference, meanDifference, unpack } from './fixtures';

const names = Object.keys(expected.decode);

describe('PNG equals Pillow', () => {
  // Pillow clips 16-bit grey at 255 instead of scaling it; see the next test.
  const same = names.filter((name) => name.endsWith('.png') && name !== 'grey16.png');
  test.each(same)('%s', (name) => {
    const { width, height, rgb } = expected.decode[name];
    const decoded = decodeImage(image(name));
    expect([decoded.width, decoded.height]).toEqual([width, height]);
    expect(maxDifference(toRgb(decoded).data, unpack(rgb))).toBe(0);
  });

  test('16-bit grey keeps its upper byte, and says so', () => {
    const decoded = decodeImage(image('grey16.png'));
    const colour = decodeImage(image('rgb16.png'));
    expect([...decoded.data]).toEqual([...colour.data.filter((_, i) => i % 3 === 0)]);
    expect(decoded.notes).toEqual(['16 bits per sample reduced to 8']);
  });

  test('dropped alpha is told', () => {
    expect(decodeImage(image('rgba8.png')).notes).toEqual(['alpha dropped']);
  });

  test('grey from RGB is 601 luma', () => {
    const grey = toGrey({
      width: 3,
      height: 1,
      channels: 3,
      data: Uint8Array.of(255, 0, 0, 0, 255, 0, 9, 9, 9),
    });
    expect([...grey.data]).toEqual([76, 150, 9]);
  });
});

describe('JPEG is near Pillow', () => {
  // Inverse DCTs round differently: at most 1 level in a plane, 3 after the colour transform.
  const jpegs = names.filter((name) => name.endsWith('.jpg') && name !== 'cmyk.jpg');
  test.each(jpegs)('%s', (name) => {
    const { width, height, rgb } = expected.decode[name];
    const decoded = decodeImage(image(name));
    expect([decoded.width, decoded.height]).toEqual([width, height]);
    expect(maxDifference(toRgb(decoded).data, unpack(rgb))).toBeLessThanOrEqual(3);
    expect(meanDifference(toRgb(decoded).data, unpack(rgb))).toBeLessThan(0.2);
  });

  test('CMYK', () => {
    const decoded = decodeImage(image('cmyk.jpg'));
    expect(maxDifference(decoded.data, unpack(expected.decode['cmyk.jpg'].rgb))).toBeLessThanOrEqual(1);
    expect(decoded.notes).toEqual(['CMYK converted to RGB']);
  });

  test('EXIF orientation is ignored, as in torchvision', () => {
    const [plain, turned] = [decodeImage(image('420.jpg')), decodeImage(image('exif.jpg'))];
    expect([...turned.data]).toEqual([...plain.data]);
  });
});

function failure(bytes: Uint8Array, name: string): string {
  try {
    decodeImage(bytesSource(bytes, name));
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as Error).message;
  }
  return 'decoded';
}

function patched(name: string, at: number, ...values: number[]): Uint8Array {
  const bytes = image(name).read(0, image(name).size).slice();
  bytes.set(values, at);
  return bytes;
}

describe('refused with a sentence', () => {
  test('a PNG of absurd size, before it is decoded', () => {
    const bytes = patched('rgb8.png', 16, 0, 1, 0, 0, 0, 1, 0, 0);
    expect(failure(bytes, 'huge.png')).toMatch(
      /huge\.png is 65,536 x 65,536 pixels, more than the 100 million/,
    );
  });

  test('a PNG whose header promises more than it holds, before it is decoded', () => {
    const bytes = patched('rgb8.png', 16, 0, 0, 0x20, 0, 0, 0, 0x20, 0);
    expect(failure(bytes, 'a.png')).toMatch(/it holds \d+ of 201,334,784 bytes of pixels/);
  });

  test('a PNG that unpacks to more than its header says', () => {
    const bytes = patched('rgb16.png', 16, 0, 0, 0, 1, 0, 0, 0, 1);
    expect(failure(bytes, 'bomb.png')).toMatch(/more pixels than its header says|unpack/);
  });

  test('a JPEG larger than its bytes can hold', () => {
    const bytes = image('444.jpg').read(0, image('444.jpg').size).slice();
    const frame = bytes.findIndex((byte, i) => byte === 0xff && bytes[i + 1] === 0xc0);
    bytes.set([0x17, 0x70, 0x17, 0x70], frame + 5);
    expect(failure(bytes, 'a.jpg')).toMatch(/1,[\d,]+ bytes cannot hold its 6,000 x 6,000 pixels/);
    bytes.set([0xff, 0xff, 0xff, 0xff], frame + 5);
    expect(failure(bytes, 'a.jpg')).toMatch(/65,535 x 65,535 pixels, more than the 50 million/);
  });

  test('an arithmetic-coded JPEG', () => {
    const bytes = image('444.jpg').read(0, image('444.jpg').size).slice();
    const frame = bytes.findIndex((byte, i) => byte === 0xff && bytes[i + 1] === 0xc0);
    bytes[frame + 1] = 0xc9;
    expect(failure(bytes, 'a.jpg')).toMatch(/arithmetic-coded JPEG \(marker 0xffc9\)/);
  });

  test('other kinds of files by name', () => {
    const text = (s: string) => new TextEncoder().encode(s);
    expect(failure(text('GIF89a...'), 'cat.gif')).toBe('cat.gif is a GIF image. Save it as PNG.');
    expect(failure(text('RIFF1234WEBPVP8 '), 'cat.webp')).toBe('cat.webp is a WebP image. Save it as PNG.');
    expect(failure(text('hello'), 'a.txt')).toMatch(/neither a PNG nor a JPEG/);
    expect(failure(text(''), 'a.png')).toMatch(/a\.png is empty/);
  });
});
