import { describe, expect, test } from 'vitest';
import { bytesSource, CheckpointError, openSafetensors, writeSafetensors } from '../../../runtime/checkpoint';
import { BYTES, type DType } from '../../../runtime/tensor/dtype';
import { Tensor } from '../../../runtime/tensor/tensor';
import { bytes, floats, u64 } from './build';

function file(header: unknown, data: Uint8Array = new Uint8Array(0)): Uint8Array {
  const json = typeof header === 'string' ? header : JSON.stringify(header);
  return bytes(u64(Buffer.byteLength(json)), Buffer.from(json), data);
}

const f32 = (shape: unknown, begin: unknown, end: unknown) => ({
  dtype: 'F32',
  shape,
  data_offsets: [begin, end],
});
const open = (b: Uint8Array) => openSafetensors(bytesSource(b, 'm.safetensors'));

test('reads shapes, dtypes and values', () => {
  const found = open(
    file(
      {
        __metadata__: { format: 'pt' },
        b: f32([2], 4, 12),
        a: { dtype: 'BF16', shape: [], data_offsets: [0, 2] },
        c: { dtype: 'U8', shape: [2], data_offsets: [2, 4] },
      },
      bytes('\x80\x3f', '\x07\x09', floats(1.5, -2)),
    ),
  );
  expect([...found.keys()]).toEqual(['b', 'a', 'c']);
  expect(found.get('b')).toMatchObject({ dtype: 'float32', shape: [2], strides: [1] });
  expect([...found.get('b')!.load().data]).toEqual([1.5, -2]);
  expect(found.get('a')!.load().at()).toBe(1);
  expect([...found.get('c')!.load().data]).toEqual([7, 9]);
});

test.each(Object.keys(BYTES) as DType[])('writes and reads back %s', (dtype) => {
  const plain = [0, 1, 1, 0, 1, 0];
  const wide = dtype === 'bool' ? plain : dtype === 'uint8' ? [0, 255, 3, 4, 5, 6] : [0, -1, 100, 4, -5, 127];
  const out = writeSafetensors(
    new Map([['x', new Tensor(Float32Array.from(wide), [2, 3], undefined, 0, dtype)]]),
  );
  const record = open(out).get('x')!;
  expect(record.dtype).toBe(dtype);
  expect([...record.load().data]).toEqual(wide);
});

test('narrow types round to nearest even and keep Inf and NaN', () => {
  const given = [
    65504,
    65519,
    65520,
    2 ** -24,
    2 ** -25,
    1.5 * 2 ** -24,
    1 + 2 ** -11,
    1 + 3 * 2 ** -11,
    Infinity,
    NaN,
    -0.1,
  ];
  const half = [
    65504,
    65504,
    Infinity,
    2 ** -24,
    0,
    2 ** -23,
    1,
    1 + 2 ** -9,
    Infinity,
    NaN,
    -0.0999755859375,
  ];
  const back = (dtype: DType, xs: number[]) => {
    const t = new Tensor(Float32Array.from(xs), [xs.length], undefined, 0, dtype);
    return [
      ...open(writeSafetensors([['x', t]]))
        .get('x')!
        .load().data,
    ];
  };
  expect(back('float16', given)).toEqual(half);
  expect(back('bfloat16', [1 + 2 ** -8, 1 + 3 * 2 ** -8, NaN, -Infinity])).toEqual([
    1,
    1 + 2 ** -6,
    NaN,
    -Infinity,
  ]);
});

test('writes views in order, larger elements first, with metadata', () => {
  const t = new Tensor(Float32Array.of(1, 2, 3, 4, 5, 6), [3, 2], [1, 3]);
  const byte = new Tensor(Float32Array.of(1), [1], undefined, 0, 'bool');
  const out = writeSafetensors(
    [
      ['a', byte],
      ['b', t],
    ],
    { made: 'here' },
  );
  expect([...open(out).get('b')!.load().data]).toEqual([1, 4, 2, 5, 3, 6]);
  const header = JSON.parse(Buffer.from(out.subarray(8, 8 + out[0] + 256 * out[1])).toString());
  expect(header).toEqual({
    __metadata__: { made: 'here' },
    b: f32([3, 2], 0, 24),
    a: { dtype: 'BOOL', shape: [1], data_offsets: [24, 25] },
  });
});

describe('refuses, with a sentence', () => {
  const eight = floats(1, 2);
  test.each<[string, Uint8Array, RegExp]>([
    ['an empty file', bytes(''), /is cut short: the header length needs 8 bytes of file, but there are 0/],
    [
      'a header longer than the file',
      bytes(u64(5000), '{}'),
      /the header needs 5,008 bytes of file, but there are 10/,
    ],
    ['a header above 100 MB', bytes(u64(2e8), '{}'), /gives its header 200 MB, more than the 100 MB/],
    ['a header of 2^64 - 1', bytes(u64(2n ** 64n - 1n), '{}'), /more than the 100 MB/],
    ['no JSON', file('{"a":'), /its header is not valid JSON/],
    ['no object', file('[1]'), /its header is not a JSON object/],
    ['no UTF-8', bytes(u64(3), '{\xff}'), /its header is not UTF-8 text/],
    [
      'an unknown dtype',
      file({ w: { dtype: 'F8_E4M3', shape: [1], data_offsets: [0, 1] } }),
      /"w" .* dtype "F8_E4M3", which/,
    ],
    ['no dtype', file({ w: null }), /dtype "of type undefined"/],
    ['a negative size', file({ w: f32([-1], 0, 4) }, eight), /shape of "w" is not a list of sizes/],
    ['a fractional size', file({ w: f32([1.5], 0, 4) }, eight), /shape of "w" is not a list of sizes/],
    ['no shape', file({ w: f32('x', 0, 4) }, eight), /shape of "w" is not a list of sizes/],
    [
      'no offsets',
      file({ w: { dtype: 'F32', shape: [1] } }, eight),
      /data_offsets of "w" are not two byte positions/,
    ],
    [
      'offsets that do not fit',
      file({ w: f32([3], 0, 8) }, eight),
      /"w" is float32 \[3\], 12 bytes, but its offsets 0 to 8 hold 8/,
    ],
    ['offsets in reverse', file({ w: f32([0], 8, 0) }, eight), /offsets 8 to 0/],
    ['a shape that overflows', file({ w: f32([2 ** 40, 2 ** 40], 0, 8) }, eight), /1099511627776/],
    ['data cut short', file({ w: f32([4], 0, 16) }, eight), /is cut short: tensor "w" needs/],
    ['shared bytes', file({ a: f32([2], 0, 8), b: f32([1], 4, 8) }, eight), /"a" and "b" share bytes/],
    [
      'the same bytes twice',
      file({ a: f32([2], 0, 8), b: f32([2], 0, 8) }, eight),
      /"a" and "b" share bytes/,
    ],
    ['a hole', file({ a: f32([1], 4, 8) }, eight), /4 bytes before "a" belong to no tensor/],
    ['bytes left over', file({ a: f32([1], 0, 4) }, eight), /its last 4 bytes belong to no tensor/],
  ])('%s', (_, given, message) => {
    expect(() => open(given)).toThrow(CheckpointError);
    expect(() => open(given)).toThrow(message);
  });

  test('an offset far outside before anything is allocated', () => {
    const big = file({ w: f32([2 ** 40], 0, 2 ** 42) }, floats(1));
    expect(() => open(big)).toThrow(/needs 4,398,046,511,\d+ bytes of file/);
  });
});
