import { describe, expect, test } from 'vitest';
import { InputError } from '../../../runtime/checkpoint/errors';
import { decodeImage } from '../../../runtime/image/decode';
import { centreCrop, defaultPreprocess, preprocess, readPreprocess } from '../../../runtime/image/preprocess';
import { type Chain, expected, image, maxDifference, unpack } from './fixtures';

function run(c: Chain) {
  const defaults = defaultPreprocess(224, c.channels);
  const settings = readPreprocess(
    { resize: c.resize, crop: c.crop, interpolation: c.interpolation },
    defaults,
  );
  return preprocess(decodeImage(image(c.file)), settings);
}

function floats(text: string): Float32Array {
  return new Float32Array(unpack(text).slice().buffer);
}

describe('the chain equals torchvision', () => {
  const chains = expected.preprocess.filter(({ file }) => file.endsWith('.png'));
  test.each(chains)('$file resize $resize crop $crop $interpolation $channels', (c) => {
    const { tensor } = run(c);
    expect(tensor.shape).toEqual([1, ...c.shape]);
    expect(tensor.axes).toEqual(['B', 'C', 'H', 'W']);
    expect(maxDifference(tensor.data, floats(c.data))).toBe(0);
  });

  test('from a JPEG within two levels of colour', () => {
    const c = expected.preprocess.find(({ file }) => file.endsWith('.jpg'))!;
    const { tensor } = run(c);
    expect(maxDifference(tensor.data, floats(c.data))).toBeLessThanOrEqual(2.01 / 255 / 0.224);
  });
});

test('the default is the evaluation of the original', () => {
  expect(defaultPreprocess(224, 3)).toEqual({
    resize: 256,
    crop: 224,
    interpolation: 'bicubic',
    mean: [0.485, 0.456, 0.406],
    std: [0.229, 0.224, 0.225],
    channels: 3,
  });
  expect(defaultPreprocess(32, 3)).toMatchObject({ resize: 32, crop: 32 });
  expect(() => defaultPreprocess(32, 4)).toThrow(
    /takes 4 channels, and an image gives 1 \(grey\) or 3 \(RGB\)/,
  );
});

test('says what it did', () => {
  const { steps } = preprocess(decodeImage(image('rgba8.png')), defaultPreprocess(32, 1));
  expect(steps).toEqual([
    'alpha dropped',
    'converted to grey',
    'resized to 51 x 32 (bicubic)',
    'centre 32 x 32',
    'normalised with mean 0.449 and std 0.226',
  ]);
});

test('a crop of odd difference starts where Python rounds to, half to even', () => {
  const row = (n: number) => ({
    width: n,
    height: n,
    channels: 1 as const,
    data: new Uint8Array(n * n).map((_, i) => i % n),
  });
  expect([...centreCrop(row(5), 4).data.slice(0, 4)]).toEqual([0, 1, 2, 3]); // round(0.5) = 0
  expect([...centreCrop(row(7), 4).data.slice(0, 4)]).toEqual([2, 3, 4, 5]); // round(1.5) = 2
  expect([...centreCrop(row(2), 5).data.slice(5, 10)]).toEqual([0, 0, 1, 0, 0]);
});

describe('preprocess of a model file', () => {
  const defaults = defaultPreprocess(224, 3);
  test('overrides by key; null turns a step off', () => {
    const p = readPreprocess(
      { resize: null, mean: 0.5, std: [0.1, 0.2, 0.3], interpolation: 'bilinear' },
      defaults,
    );
    expect(p).toEqual({
      ...defaults,
      resize: undefined,
      mean: [0.5, 0.5, 0.5],
      std: [0.1, 0.2, 0.3],
      interpolation: 'bilinear',
    });
  });

  test.each([
    [{ size: 224 }, /"preprocess" has the key "size"; it takes resize, crop, interpolation, mean and std/],
    [{ resize: -1 }, /"resize" of "preprocess" is -1/],
    [{ crop: '224' }, /"crop" of "preprocess" is "224"/],
    [{ interpolation: 'lanczos' }, /"interpolation" is "lanczos"/],
    [{ mean: [0.5] }, /"mean" of "preprocess" is \[0\.5\]; it takes 3 numbers/],
    [{ std: 0 }, /"std" of "preprocess" is 0; it takes 3 numbers above 0/],
  ])('%j is refused', (given, message) => {
    expect(() => readPreprocess(given, defaults)).toThrow(InputError);
    expect(() => readPreprocess(given, defaults)).toThrow(message);
  });
});
