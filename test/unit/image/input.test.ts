import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { InputError, writeNpy, writeSafetensors } from '../../../runtime/checkpoint';
import { bytesSource } from '../../../runtime/checkpoint/source';
import { loadInput, loadInputSource } from '../../../runtime/image/input';
import { Tensor } from '../../../runtime/tensor/tensor';
import { bytes, dict, pickle, str, tensor, torchZip } from '../checkpoint/build';
import { FOLDER, image } from './fixtures';

const request = { channels: 3, imgSize: 2 };

function numbers(shape: number[], dtype: 'float32' | 'float16' | 'uint8' | 'int64' = 'float32'): Tensor {
  const count = shape.reduce((n, size) => n * size, 1);
  return new Tensor(
    Float32Array.from({ length: count }, (_, i) => i),
    shape,
    undefined,
    0,
    dtype,
  );
}

const load = (content: Uint8Array, asked = request) => loadInputSource(bytesSource(content, 'x'), asked);

describe('images', () => {
  test('as the original evaluates them', async () => {
    const { input, labels, described } = await loadInput(join(FOLDER, 'photo.png'), {
      channels: 3,
      imgSize: 224,
    });
    expect(input.shape).toEqual([1, 3, 224, 224]);
    expect(input.axes).toEqual(['B', 'C', 'H', 'W']);
    expect(labels).toBeUndefined();
    expect(described).toBe(
      'photo.png, 37 x 29 pixels: resized to 326 x 256 (bicubic), centre 224 x 224, ' +
        'normalised with mean 0.485, 0.456, 0.406 and std 0.229, 0.224, 0.225.',
    );
  });

  test('with settings of the model file', () => {
    const preprocess = { resize: null, crop: 20, mean: 0.5, std: 0.5 };
    const { input, described } = loadInputSource(image('grey.jpg'), { channels: 1, imgSize: 20, preprocess });
    expect(input.shape).toEqual([1, 1, 20, 20]);
    expect(described).toBe('grey.jpg, 35 x 27 pixels: centre 20 x 20, normalised with mean 0.5 and std 0.5.');
  });

  test('settings that give another size are refused', () => {
    const asked = { channels: 3, imgSize: 20, preprocess: { resize: null, crop: null } };
    expect(() => loadInputSource(image('photo.png'), asked)).toThrow(
      'The input in photo.png is 3 x 29 x 37 (C x H x W) after "preprocess", but the model takes 3 x 20 x 20. ' +
        'Give an input of that size, or set img_size and channels.',
    );
  });
});

describe('arrays and tensors are used as they are', () => {
  test('.npy without and with a batch', () => {
    const { input, described } = load(writeNpy(numbers([3, 2, 2])));
    expect(input.shape).toEqual([1, 3, 2, 2]);
    expect([...input.data]).toEqual([...numbers([12]).data]);
    expect(described).toBe('x: float32 [3, 2, 2], used as it is.');
    expect(load(writeNpy(numbers([5, 3, 2, 2]))).input.shape).toEqual([5, 3, 2, 2]);
  });

  test('safetensors with input and labels', () => {
    const labels = new Tensor(Float32Array.of(7, 1), [2], undefined, 0, 'int64');
    const {
      input,
      labels: read,
      described,
    } = load(
      writeSafetensors([
        ['input', numbers([2, 3, 2, 2], 'float16')],
        ['labels', labels],
        ['loss', numbers([1])],
      ]),
    );
    expect(input).toMatchObject({ shape: [2, 3, 2, 2], dtype: 'float16' });
    expect(read).toEqual([7, 1]);
    expect(described).toBe('"input" of x: float16 [2, 3, 2, 2], used as it is, with labels 7, 1.');
  });

  test('a PyTorch file, and one tensor of any name', () => {
    const parts = { shape: [1, 3, 1, 1], strides: [6, 2, 1, 1], count: 6 };
    const asked = { channels: 3, imgSize: 1 };
    expect([...load(torchZip(pickle(dict(str('input'), tensor(parts)))), asked).input.data]).toEqual([
      1, 3, 5,
    ]);
    expect([...load(torchZip(pickle(tensor(parts))), asked).input.data]).toEqual([1, 3, 5]);
  });
});

describe('refused with a sentence', () => {
  const labelled = (labels: Tensor) =>
    writeSafetensors([
      ['input', numbers([2, 3, 2, 2])],
      ['labels', labels],
    ]);
  test.each<[string, Uint8Array, RegExp]>([
    ['two axes', writeNpy(numbers([2, 2])), /has shape \[2, 2\]; it takes \(C, H, W\) or \(B, C, H, W\)/],
    [
      'another size',
      writeNpy(numbers([3, 4, 4])),
      /is 3 x 4 x 4 \(C x H x W\), but the model takes 3 x 2 x 2/,
    ],
    [
      'channels last',
      writeNpy(numbers([2, 2, 3])),
      /The channels seem to come last: transpose it to \(C, H, W\)/,
    ],
    ['an empty batch', writeNpy(numbers([0, 3, 2, 2])), /is an empty batch/],
    [
      'bytes',
      writeSafetensors([['input', numbers([3, 2, 2], 'uint8')]]),
      /is uint8, and tensors are used as they are/,
    ],
    [
      'no input',
      writeSafetensors([
        ['a', numbers([1])],
        ['b', numbers([1])],
      ]),
      /has no tensor "input", but a, b/,
    ],
    [
      'too many labels',
      labelled(numbers([3], 'int64')),
      /"labels" of x has shape \[3\]; 2 images take \[2\]/,
    ],
    [
      'fractional labels',
      labelled(new Tensor(Float32Array.of(0.5, 1), [2])),
      /"labels" of x are not all whole numbers/,
    ],
    [
      'text',
      bytes('hello'),
      /x is of no known format\. Inputs are taken from PNG and JPEG images, \.npy arrays/,
    ],
    ['an empty file', bytes(''), /x is empty/],
    ['code', torchZip(pickle('cos\nsystem\n')), /asks to run os\.system/],
  ])('%s', (_, content, message) => {
    expect(() => load(content)).toThrow(InputError);
    expect(() => load(content)).toThrow(message);
  });

  test('a model of other channels', () => {
    expect(() => loadInputSource(image('photo.png'), { channels: 4, imgSize: 2 })).toThrow(
      /takes 4 channels/,
    );
  });

  test('a file that does not exist', async () => {
    await expect(loadInput('/nowhere/cat.png', request)).rejects.toThrow(/cat\.png does not exist/);
    await expect(loadInput('/nowhere/cat.png', request)).rejects.toBeInstanceOf(InputError);
  });
});

const folder = mkdtempSync(join(tmpdir(), 'scanpoint-input-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the extension does not matter', async () => {
  writeFileSync(join(folder, 'image.npy'), image('photo.png').read(0, image('photo.png').size));
  const { input } = await loadInput(join(folder, 'image.npy'), { channels: 3, imgSize: 32 });
  expect(input.shape).toEqual([1, 3, 32, 32]);
});
