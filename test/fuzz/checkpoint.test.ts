/** Random damage to files of every format, and random pickles: read or refused, never anything else. */
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { bytes, global, str, tensor, torchLegacy, torchZip } from '../unit/checkpoint/build';
import { readOrRefuse, SAMPLES } from '../unit/checkpoint/samples';

const RUNS = Number(process.env.FUZZ_RUNS ?? 400);

/** One change: bytes overwritten, cut out, or repeated. */
const change = fc.record({
  kind: fc.constantFrom('set', 'set', 'set', 'remove', 'repeat'),
  where: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 40 }),
  values: fc.uint8Array({ minLength: 1, maxLength: 8 }),
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function apply(file: Uint8Array, { kind, where, length, values }: Change): Uint8Array {
  const at = Math.floor(where * file.length);
  const rest = file.subarray(at);
  if (kind === 'remove') return bytes(file.subarray(0, at), rest.subarray(length));
  if (kind === 'repeat') return bytes(file.subarray(0, at), rest.subarray(0, length), rest);
  return bytes(file.subarray(0, at), values, rest.subarray(values.length));
}

describe('damaged files', () => {
  test.each(Object.keys(SAMPLES))('%s', (name) => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
        readOrRefuse(changes.reduce(apply, SAMPLES[name]), name);
      }),
      { numRuns: RUNS },
    );
  });
});

/** Pieces of pickles, some whole, so that random sequences get far. */
const PIECES = [
  '(', ')', '0', '1', '2', '.', '}', ']', 'N', 't', 'u', 's', 'a', 'e', 'd', 'l', 'b', 'R', 'o', 'Q', 'K\x01', 'M\xff\xff',
  '\x81', '\x85', '\x86', '\x87', '\x88', '\x89', '\x8f', '\x90', '\x91', '\x92', '\x93', '\x94', 'q\x00', 'q\x01', 'h\x00', 'h\x01',
  'r\xff\xff\xff\xff', 'J\xff\xff\xff\xff', '\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f', 'G\x7f\xf8\0\0\0\0\0\0', 'I01\n', 'F1e999\n', 'U\x01x',
  bytes(str('storage')), bytes(str('w')), bytes(str('0')), bytes(str('model')), bytes(tensor()), bytes('}(', str('w'), tensor(), 'u'),
  bytes(global('collections.OrderedDict')), bytes(global('torch.FloatStorage')), bytes(global('torch._utils._rebuild_tensor_v2')),
  bytes(global('torch._utils._rebuild_tensor_v3')), bytes(global('torch._tensor._rebuild_from_type_v2')), bytes(global('torch.Size')),
  bytes(global('argparse.Namespace')), bytes(global('torch.float64')), bytes(global('builtins.tuple')), 'iargparse\nNamespace\n',
]; // biome-ignore format: a list of short pieces

test('random pickles in both formats', () => {
  const piece = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...PIECES) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }) },
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const data = bytes('\x80\x02', ...pieces, '.');
      readOrRefuse(torchZip(data), 'zip');
      readOrRefuse(torchLegacy(data), 'legacy');
    }),
    { numRuns: 10 * RUNS },
  );
});

test('random bytes after any known beginning', () => {
  const start = fc.constantFrom(...Object.values(SAMPLES).map((file) => file.subarray(0, 16)));
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 300 }), (head, tail) => {
      readOrRefuse(bytes(head, tail), 'zip');
      readOrRefuse(bytes(head, tail), 'npy');
      readOrRefuse(bytes(head, tail), 'a.png');
    }),
    { numRuns: 5 * RUNS },
  );
});
