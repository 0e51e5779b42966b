import { describe, expect, test } from 'vitest';
import { CheckpointError } from '../../../runtime/checkpoint';
import { bytes, dict, floats, open, pickle, str, tensor, torchZip, u32, u64, values } from './build';

const data = pickle(dict(str('w'), tensor()));
const good = torchZip(data);
const packed = torchZip(data, { 'data/0': new Uint8Array(5000) }, 6);

const LOCAL = 'PK\x03\x04';
const CENTRAL = 'PK\x01\x02';
const END = 'PK\x05\x06';

/** Positions of a signature. */
function find(file: Uint8Array, signature: string): number[] {
  const text = Buffer.from(file).toString('latin1');
  const out: number[] = [];
  for (let at = text.indexOf(signature); at >= 0; at = text.indexOf(signature, at + 1)) out.push(at);
  return out;
}

function patch(file: Uint8Array, at: number, value: Uint8Array): Uint8Array {
  const out = file.slice();
  out.set(value, at);
  return out;
}

function refusal(file: Uint8Array): string {
  try {
    open(file);
  } catch (error) {
    expect(error).toBeInstanceOf(CheckpointError);
    return (error as Error).message;
  }
  return 'opened';
}

/** The same archive with its sizes and positions in zip64 fields, as torch.save writes it for large files. */
function toZip64(file: Uint8Array): Uint8Array {
  const centrals = find(file, CENTRAL);
  const [end] = find(file, END);
  const entries = centrals.map((at, i) => {
    const view = new DataView(file.buffer, file.byteOffset + at);
    const nameEnd = 46 + view.getUint16(28, true);
    const sizes = [view.getUint32(24, true), view.getUint32(20, true), view.getUint32(42, true)];
    const head = file.slice(at, (centrals[i + 1] ?? end) && at + nameEnd);
    for (const field of [24, 20, 42]) head.set(u32(0xffffffff), field);
    head.set([28, 0], 30);
    return bytes(head, '\x01\x00\x18\x00', ...sizes.map(u64));
  });
  const directory = bytes(...entries);
  const at = centrals[0];
  const count = u64(entries.length);
  const end64 = bytes(
    'PK\x06\x06',
    u64(44),
    '\x2d\x00\x2d\x00',
    u32(0),
    u32(0),
    count,
    count,
    u64(directory.length),
    u64(at),
  );
  const locator = bytes('PK\x06\x07', u32(0), u64(at + directory.length), u32(1));
  const tail = bytes(END, u32(0), '\xff\xff\xff\xff', u32(0xffffffff), u32(0xffffffff), '\0\0');
  return bytes(file.subarray(0, at), directory, end64, locator, tail);
}

describe('reads', () => {
  test('zip64', () => {
    expect(values(open(toZip64(good)))).toEqual({ w: [1, 2, 3, 4, 5, 6] });
  });

  test('deflated entries', () => {
    expect(values(open(packed))).toEqual({ w: [0, 0, 0, 0, 0, 0] });
  });

  test('a comment at the end', () => {
    const [end] = find(good, END);
    const file = bytes(patch(good, end + 20, Uint8Array.of(5, 0)), 'hello');
    expect(values(open(file))).toEqual({ w: [1, 2, 3, 4, 5, 6] });
  });
});

describe('refuses', () => {
  const [first, second] = find(good, CENTRAL);
  const [end] = find(good, END);
  const local = find(good, LOCAL)[1];
  test.each<[string, Uint8Array, RegExp]>([
    ['a file without its directory', good.subarray(0, end), /starts as a zip archive but has no directory/],
    ['a directory outside the file', patch(good, end + 16, u32(1e9)), /directory of 2 entries does not fit/],
    [
      'more entries than fit',
      patch(good, end + 10, Uint8Array.of(255, 255)),
      /directory of 65,535 entries does not fit/,
    ],
    ['a broken entry', patch(good, second, bytes('XX')), /its directory is broken/],
    ['an encrypted entry', patch(good, first + 8, Uint8Array.of(1)), /"archive\/data\.pkl" is encrypted/],
    [
      'another compression',
      patch(good, first + 10, Uint8Array.of(14)),
      /compression method 14; only stored and deflate/,
    ],
    ['entries that share bytes', patch(good, second + 42, u32(4)), /reaches into the next entry/],
    [
      'an entry elsewhere',
      patch(good, local, bytes('XX')),
      /"archive\/data\/0" does not start where the directory says/,
    ],
    [
      'a local header that shifts data',
      patch(good, local + 28, Uint8Array.of(9)),
      /reaches into the next entry/,
    ],
    ['stored sizes that differ', patch(good, second + 24, u32(99)), /cannot unpack from 24 to 99 bytes/],
    ['a missing zip64 field', patch(good, second + 24, u32(0xffffffff)), /a zip64 field is missing/],
    [
      'a zip64 directory elsewhere',
      patch(toZip64(good), find(toZip64(good), 'PK\x06\x06')[0], bytes('XX')),
      /zip64 directory is not where/,
    ],
  ])('%s', (_, file, message) => {
    const act = () => values(open(file));
    expect(act).toThrow(CheckpointError);
    expect(act).toThrow(message);
  });

  test('two entries of one name', () => {
    const file = torchZip(data, { 'data/0': floats(1, 2, 3, 4, 5, 6), 'data/1': floats(1) });
    const twice = Buffer.from(file).toString('latin1').replaceAll('data/1', 'data/0');
    expect(refusal(bytes(twice))).toMatch(/two of its entries have the same name/);
  });

  test('a bomb: the size it gives is impossible, or wrong', () => {
    const central = find(packed, CENTRAL)[1];
    expect(refusal(patch(packed, central + 24, u32(4e9)))).toMatch(
      /cannot unpack from \d+ to 4000000000 bytes/,
    );
    const small = patch(packed, central + 24, u32(100));
    expect(() => values(open(small))).toThrow(/"archive\/data\/0" unpacks to more than its 100 B/);
    const large = patch(packed, central + 24, u32(5100));
    expect(() => values(open(large))).toThrow(/unpacks to 5,000 bytes, not 5,100/);
  });

  test('compressed data that is broken', () => {
    const at = find(packed, LOCAL)[1] + 30 + 'archive/data/0'.length;
    expect(() => values(open(patch(packed, at, Uint8Array.of(255, 255, 255))))).toThrow(
      /the compressed data of "archive\/data\/0" is broken/,
    );
  });
});
