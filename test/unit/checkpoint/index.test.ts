import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { CheckpointError, openCheckpoint, writeSafetensors } from '../../../runtime/checkpoint';
import { Tensor } from '../../../runtime/tensor/tensor';
import { bytes, dict, open, pickle, str, tensor, torchLegacy, torchZip, values } from './build';

const folder = mkdtempSync(join(tmpdir(), 'scanpoint-checkpoint-'));
afterAll(() => rmSync(folder, { recursive: true }));

function save(name: string, content: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const state = pickle(dict(str('w'), tensor()));
const one = writeSafetensors([['w', new Tensor(Float32Array.of(1), [1])]]);

describe('the format is found by content', () => {
  test.each([
    ['a.safetensors', torchZip(state), 'pytorch-zip'],
    ['b.bin', torchLegacy(state), 'pytorch-legacy'],
    ['c.pth', one, 'safetensors'],
  ])('%s', async (name, content, format) => {
    const path = save(name, content);
    const checkpoint = await openCheckpoint(path);
    expect(checkpoint).toMatchObject({ path, format, nested: [], ignored: [] });
    expect([...checkpoint.entries.keys()]).toEqual(['w']);
  });
});

describe('nesting is undone and told', () => {
  const nested = (...items: Parameters<typeof dict>) => open(torchZip(pickle(dict(...items))));
  const inner = (name: string) => dict(str(name), tensor());

  test.each(['model', 'state_dict', 'model_state_dict', 'module', 'net', 'model_ema'])('%s', (key) => {
    const checkpoint = nested(str('epoch'), 'K\x01', str(key), inner('w'), str('optimizer'), inner('m'));
    expect(checkpoint.nested).toEqual([`key "${key}"`]);
    expect(checkpoint.ignored).toEqual(['epoch', 'optimizer']);
    expect([...checkpoint.entries.keys()]).toEqual(['w']);
  });

  test('model before model_ema, in any order, and tensors beside it', () => {
    const checkpoint = nested(str('model_ema'), inner('e'), str('rng'), tensor(), str('model'), inner('w'));
    expect([...checkpoint.entries.keys()]).toEqual(['w']);
    expect(checkpoint.ignored).toEqual(['model_ema', 'rng']);
  });

  test('a wrapper in a wrapper, and prefixes', () => {
    const checkpoint = nested(
      str('model'),
      dict(str('state_dict'), dict(str('module.model.a.b'), tensor(), str('module.model.c'), tensor())),
    );
    expect(checkpoint.nested).toEqual([
      'key "model"',
      'key "state_dict"',
      'prefix "module."',
      'prefix "model."',
    ]);
    expect([...checkpoint.entries.keys()]).toEqual(['a.b', 'c']);
    expect(checkpoint.entries.get('a.b')!.name).toBe('a.b');
    expect(values(checkpoint)['a.b']).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('a prefix that not all share stays', () => {
    const checkpoint = nested(str('module.a'), tensor(), str('b'), tensor());
    expect([...checkpoint.entries.keys()]).toEqual(['module.a', 'b']);
  });

  test('one tensor alone', () => {
    expect([...open(torchZip(pickle(tensor()))).entries.keys()]).toEqual(['tensor']);
  });
});

describe('other files are named', () => {
  test.each<[string, string, RegExp]>([
    ['an empty file', '', /is empty/],
    [
      'a Git LFS pointer',
      'version https://git-lfs.github.com/spec/v1\noid sha256:1',
      /a Git LFS pointer.*git lfs pull/,
    ],
    ['a web page', '<!DOCTYPE html><html>', /a web page: the download saved a page/],
    ['an index of shards', '{"weight_map": {}}', /a JSON file/],
    ['GGUF', 'GGUF\x03\0\0\0', /a GGUF file/],
    ['HDF5', '\x89HDF\r\n', /an HDF5 file/],
    ['gzip', '\x1f\x8b\x08', /compressed with gzip/],
    ['tar', `${'a'.repeat(257)}ustar`, /a tar archive, as very old PyTorch versions wrote/],
    ['anything', 'hello world, this is text', /neither a safetensors file nor one saved by torch\.save/],
  ])('%s', (_, content, message) => {
    expect(() => open(bytes(content))).toThrow(CheckpointError);
    expect(() => open(bytes(content))).toThrow(message);
  });
});

describe('files', () => {
  test('that do not exist or are folders', async () => {
    await expect(openCheckpoint(join(folder, 'none.pth'))).rejects.toThrow(
      /none\.pth does not exist\. Check the path\./,
    );
    await expect(openCheckpoint(folder)).rejects.toThrow(/is a folder/);
    await expect(openCheckpoint(folder)).rejects.toBeInstanceOf(CheckpointError);
  });

  test('that change after they were opened', async () => {
    const path = save('changing.safetensors', one);
    const { entries } = await openCheckpoint(path);
    writeFileSync(path, bytes(one, 'more'));
    expect(() => entries.get('w')!.load()).toThrow(/changing\.safetensors changed while it was being read/);
    rmSync(path);
    expect(() => entries.get('w')!.load()).toThrow(/does not exist/);
  });
});
