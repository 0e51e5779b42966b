import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bytesSource, openCheckpoint, openSafetensors } from '../../../runtime/checkpoint';
import {
  bytes,
  call,
  dict,
  floats,
  global,
  int,
  open,
  pickle,
  str,
  tensor,
  torchLegacy,
  torchZip,
  tuple,
  u32,
  values,
} from './build';

const GOLDEN = join(__dirname, '../../fixtures/golden');

describe('files of PyTorch equal the safetensors of the same weights', () => {
  const name = 'mamba_lm_small.weights.safetensors';
  const reference = openSafetensors(bytesSource(new Uint8Array(readFileSync(join(GOLDEN, name))), name));
  test.each([
    ['zip_pickle', 'pytorch-zip', 'float32', 0],
    ['legacy', 'pytorch-legacy', 'float32', 0],
    ['fp16', 'pytorch-zip', 'float16', 2 ** -11],
    ['bf16', 'pytorch-zip', 'bfloat16', 2 ** -8],
  ])('%s', async (kind, format, dtype, relative) => {
    const checkpoint = await openCheckpoint(join(GOLDEN, `mamba_lm_small.${kind}.pth`));
    expect(checkpoint.format).toBe(format);
    expect(checkpoint.nested).toEqual(['key "model"']);
    expect([...checkpoint.entries.keys()].sort()).toEqual([...reference.keys()].sort());
    for (const [key, record] of checkpoint.entries) {
      const [got, want] = [record.load(), reference.get(key)!.load()];
      expect(record.dtype).toBe(dtype);
      expect(got.shape).toEqual(want.shape);
      const [a, b] = [got.toArray(), want.toArray()];
      // Half precision has steps of 2^-24 near zero.
      const wrong = a.findIndex(
        (x, i) => Math.abs(x - b[i]) > relative * Math.abs(b[i]) + (relative && 2 ** -25),
      );
      expect([key, wrong]).toEqual([key, -1]);
    }
  });
});

const weights = dict(str('w'), tensor());

describe('what is built', () => {
  test('a state_dict in both formats', () => {
    for (const file of [
      torchZip(pickle(weights)),
      torchZip(pickle(weights), undefined, 6),
      torchLegacy(pickle(weights)),
    ])
      expect(values(open(file))).toEqual({ w: [1, 2, 3, 4, 5, 6] });
  });

  test('views: transposed, sliced, expanded, scalar, empty', () => {
    const parts = [
      [str('t'), tensor({ shape: [3, 2], strides: [1, 3] })],
      [str('s'), tensor({ offset: 2, shape: [2], strides: [2] })],
      [str('x'), tensor({ offset: 5, shape: [3], strides: [0] })],
      [str('0'), tensor({ offset: 3, shape: [], strides: [] })],
      [str('e'), tensor({ shape: [0, 9], strides: [9, 1] })],
    ];
    const checkpoint = open(torchZip(pickle(dict(...parts.flat()))));
    expect(values(checkpoint)).toEqual({ t: [1, 4, 2, 5, 3, 6], s: [3, 5], x: [6, 6, 6], 0: [4], e: [] });
    expect(checkpoint.entries.get('t')).toMatchObject({ shape: [3, 2], strides: [1, 3] });
  });

  test('parameters, and tensors with attributes', () => {
    const plain = call(global('torch._utils._rebuild_parameter'), tensor(), '\x88', 'N');
    const state = call(
      global('torch._utils._rebuild_parameter_with_state'),
      tensor(),
      '\x88',
      'N',
      dict(str('a'), '\x88'),
    );
    const typed = call(
      global('torch._tensor._rebuild_from_type_v2'),
      global('torch._utils._rebuild_parameter'),
      global('torch.nn.parameter.Parameter'),
      tuple(tensor(), '\x88', 'N'),
      dict(),
    );
    const file = torchZip(pickle(dict(str('a'), plain, str('b'), state, str('c'), typed)));
    expect(Object.keys(values(open(file)))).toEqual(['a', 'b', 'c']);
  });

  test('untyped storage with a dtype (_rebuild_tensor_v3)', () => {
    const id = [
      tuple(str('storage'), global('torch.storage.UntypedStorage'), str('0'), str('cuda:0'), int(24)),
      'Q',
    ];
    const v3 = call(
      global('torch._utils._rebuild_tensor_v3'),
      id,
      int(2),
      tuple(int(3)),
      tuple(int(1)),
      '\x89',
      'N',
      global('torch.float32'),
    );
    expect(values(open(torchZip(pickle(dict(str('w'), v3)))))).toEqual({ w: [3, 4, 5] });
  });

  test('protocol 4: frames, short strings, memoize, STACK_GLOBAL', () => {
    const short = (s: string) => ['\x8c', String.fromCharCode(s.length), s, '\x94'];
    const named = (module: string, name: string) => [short(module), short(name), '\x93\x94'];
    const id = [
      '(',
      short('storage'),
      named('torch', 'FloatStorage'),
      short('0'),
      short('cpu'),
      'K\x06t\x94Q',
    ];
    const built = [
      named('torch._utils', '_rebuild_tensor_v2'),
      '(',
      id,
      'K\x00',
      'K\x06\x85',
      'K\x01\x85',
      '\x89Nt\x94R\x94',
    ];
    const body = bytes('}\x94', short('w'), built, 's.');
    const file = torchZip(bytes('\x80\x04\x95', u32(body.length), u32(0), body));
    expect(values(open(file))).toEqual({ w: [1, 2, 3, 4, 5, 6] });
  });

  test('old protocols: INST, GET, PUT, text integers', () => {
    const args = [str('w'), 'p1\n', tensor(), str('epoch'), 'I7\n', str('on'), 'I01\n', 'g1\n', 'L5L\n'];
    const file = torchZip(bytes('(dp0\n(', ...args, 'u', '.'));
    const checkpoint = open(torchZip(bytes('(', str('w'), tensor(), 'd.')));
    expect(values(checkpoint)).toEqual({ w: [1, 2, 3, 4, 5, 6] });
    expect(() => open(file)).toThrow(/a dict of "w", "epoch", "on"/); // the later w, a number, replaces the tensor
  });

  test('training arguments and numpy numbers beside the weights', () => {
    const namespace = [call(global('argparse.Namespace')), dict(str('lr'), 'G?PbM\xd2\xf1\xa9\xfc'), 'b'];
    const dtype = [call(global('numpy.dtype'), str('f8'), '\x89', '\x88'), tuple(int(3), str('<')), 'b'];
    const raw = call(global('_codecs.encode'), str('xxxxxxxx'), str('latin1'));
    const scalar = call(global('numpy.core.multiarray.scalar'), dtype, raw);
    const path = call(global('pathlib.PosixPath'), str('/'));
    const file = pickle(
      dict(
        str('model'),
        weights,
        str('args'),
        namespace,
        str('best'),
        scalar,
        str('out'),
        path,
        str('epoch'),
        'K\x05',
      ),
    );
    const checkpoint = open(torchZip(file));
    expect(values(checkpoint)).toEqual({ w: [1, 2, 3, 4, 5, 6] });
    expect(checkpoint.ignored).toEqual(['args', 'best', 'out', 'epoch']);
  });

  test('an OrderedDict with its _metadata, and a dict that holds itself', () => {
    const state = [
      call(global('collections.OrderedDict')),
      '(',
      str('w'),
      tensor(),
      'u',
      dict(str('_metadata'), dict()),
      'b',
    ];
    expect(Object.keys(values(open(torchZip(pickle(state)))))).toEqual(['w']);
    const loop = ['}q\x00(', str('w'), tensor(), str('model'), 'h\x00', 'u'];
    expect(Object.keys(values(open(torchZip(pickle(loop)))))).toEqual(['w']);
  });

  test('an old-format view of a storage', () => {
    const view = tuple(str('v'), int(2), int(3));
    const id = [tuple(str('storage'), global('torch.FloatStorage'), str('0'), str('cpu'), int(6), view), 'Q'];
    const t = call(global('torch._utils._rebuild_tensor'), id, int(0), tuple(int(3)), tuple(int(1)));
    expect(values(open(torchLegacy(pickle(dict(str('w'), t)))))).toEqual({ w: [3, 4, 5] });
  });

  test('two storages of different types in the old format', () => {
    const long = tensor({ key: '1', storage: 'torch.LongStorage', count: 1, shape: [1], strides: [1] });
    const two = pickle(dict(str('w'), tensor(), str('n'), long));
    const file = torchLegacy(two, { 0: floats(1, 2, 3, 4, 5, 6) });
    expect(() => open(file)).toThrow(/storage "1" has no values/);
    const keys = pickle('](', str('0'), str('1'), 'e');
    const head = torchLegacy(two, {});
    const whole = bytes(head.subarray(0, head.length - pickle('](', 'e').length), keys);
    const data = bytes(u32(6), u32(0), floats(1, 2, 3, 4, 5, 6), u32(1), u32(0), u32(9), u32(0));
    expect(values(open(bytes(whole, data)))).toEqual({ w: [1, 2, 3, 4, 5, 6], n: [9] });
  });
});
