import { describe, expect, test } from 'vitest';
import { bytesSource, InputError, readNpy, writeNpy } from '../../../runtime/checkpoint';
import { Tensor } from '../../../runtime/tensor/tensor';
import { bytes, floats, u32 } from './build';

function npy(
  descr: string,
  shape: string,
  data: Uint8Array,
  { fortran = 'False', version = 1 } = {},
): Uint8Array {
  const header = `{'descr': ${descr}, 'fortran_order': ${fortran}, 'shape': ${shape}, }\n`;
  const length = version === 1 ? u32(header.length).slice(0, 2) : u32(header.length);
  return bytes('\x93NUMPY', String.fromCharCode(version, 0), length, header, data);
}

const read = (b: Uint8Array) => readNpy(bytesSource(b, 'x.npy'));

test('reads versions 1, 2 and 3', () => {
  for (const version of [1, 2, 3]) {
    const t = read(npy("'<f4'", '(2, 3)', floats(1, 2, 3, 4, 5, 6), { version }));
    expect(t).toMatchObject({ shape: [2, 3], dtype: 'float32' });
    expect([...t.toArray()]).toEqual([1, 2, 3, 4, 5, 6]);
  }
});

test('Fortran order becomes strides', () => {
  const t = read(npy("'<f4'", '(2, 3)', floats(1, 4, 2, 5, 3, 6), { fortran: 'True' }));
  expect(t.strides).toEqual([1, 2]);
  expect([...t.toArray()]).toEqual([1, 2, 3, 4, 5, 6]);
});

test.each([
  ["'<f8'", new Uint8Array(Float64Array.of(1.5, -2).buffer), 'float64', [1.5, -2]],
  ["'<f2'", bytes('\x00\x3c\x00\xc0'), 'float16', [1, -2]],
  ["'<i8'", new Uint8Array(BigInt64Array.of(5n, -6n).buffer), 'int64', [5, -6]],
  ["'<i4'", new Uint8Array(Int32Array.of(5, -6).buffer), 'int32', [5, -6]],
  ["'|u1'", Uint8Array.of(5, 250), 'uint8', [5, 250]],
  ["'|b1'", Uint8Array.of(1, 0), 'bool', [1, 0]],
  ["'>f4'", bytes('\x3f\xc0\x00\x00\xc0\x00\x00\x00'), 'float32', [1.5, -2]],
  ["'>i2'", Uint8Array.of(1, 0, 255, 255), 'int16', [256, -1]],
])('reads %s', (descr, data, dtype, expected) => {
  const t = read(npy(descr, '(2,)', data));
  expect(t.dtype).toBe(dtype);
  expect([...t.toArray()]).toEqual(expected);
});

test('a scalar and an empty array', () => {
  expect(read(npy("'<f4'", '()', floats(7))).at()).toBe(7);
  expect(read(npy("'<f4'", '(0, 3)', bytes(''))).shape).toEqual([0, 3]);
});

test('writes what it reads', () => {
  for (const shape of [[], [6], [2, 3], [1, 2, 3, 1]]) {
    const data = Float32Array.from({ length: shape.reduce((n, s) => n * s, 1) }, (_, i) => i / 3);
    const out = writeNpy(new Tensor(data, shape));
    expect(out.length % 64).toBe((4 * data.length) % 64); // values start at a multiple of 64
    const back = read(out);
    expect(back.shape).toEqual(shape);
    expect(back.toArray()).toEqual(data);
  }
  const turned = new Tensor(Float32Array.of(1, 2, 3, 4), [2, 2], [1, 2]);
  expect([...read(writeNpy(turned)).toArray()]).toEqual([1, 3, 2, 4]);
});

describe('refuses, with a sentence', () => {
  test.each<[string, Uint8Array, RegExp]>([
    ['pickled objects', npy("'|O'", '(1,)', bytes('........')), /x\.npy holds elements of type "\|O"/],
    ['complex numbers', npy("'<c8'", '(1,)', bytes('........')), /type "<c8", which Scanpoint does not read/],
    ['records', npy("[('a', '<f4')]", '(1,)', bytes('....')), /x\.npy holds records/],
    ['values cut short', npy("'<f4'", '(2, 3)', floats(1)), /float32 \[2, 3\] needs 24 bytes, but 4 follow/],
    ['an absurd shape', npy("'<f4'", '(9007199254740991, 99)', floats(1)), /is cut short/],
    ['no shape', bytes('\x93NUMPY\x01\x00\x03\x00{}\n  '), /lacks descr, fortran_order or shape/],
    ['another version', bytes('\x93NUMPY\x07\x00\x03\x00{}\n'), /version 7 is not 1, 2 or 3/],
    ['a header cut short', bytes('\x93NUMPY\x01\x00\xff\x00{}'), /header of 255 bytes does not fit/],
    ['six bytes', bytes('\x93NUMPY'), /ends within the header/],
  ])('%s', (_, given, message) => {
    expect(() => read(given)).toThrow(InputError);
    expect(() => read(given)).toThrow(message);
  });
});
