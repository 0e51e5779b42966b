/** Writes pickles and torch files byte by byte, sound ones and hostile ones. */
import { zipSync } from 'fflate';
import { bytesSource, type Checkpoint, openCheckpointSource } from '../../../runtime/checkpoint';

type Part = string | Uint8Array | readonly Part[];

/** Joins parts; strings are taken as Latin-1 bytes. */
export function bytes(...parts: readonly Part[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts.map(flat)));
}

function flat(part: Part): Uint8Array {
  if (typeof part === 'string') return Buffer.from(part, 'latin1');
  return part instanceof Uint8Array ? part : bytes(...part);
}

export function u32(n: number): Uint8Array {
  const out = new Uint8Array(4);
  new DataView(out.buffer).setUint32(0, n, true);
  return out;
}

export function u64(n: number | bigint): Uint8Array {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigUint64(0, BigInt(n), true);
  return out;
}

export const str = (s: string): Part => ['X', u32(Buffer.byteLength(s)), Buffer.from(s)];
export const int = (n: number): Part => ['J', u32(n >>> 0)];
export const global = (path: string): Part => {
  const dot = path.lastIndexOf('.');
  return `c${path.slice(0, dot)}\n${path.slice(dot + 1)}\n`;
};
export const tuple = (...items: Part[]): Part => ['(', ...items, 't'];
export const call = (callee: Part, ...args: Part[]): Part => [callee, tuple(...args), 'R'];
export const dict = (...items: Part[]): Part => ['}(', ...items, 'u'];
export const pickle = (...parts: Part[]): Uint8Array => bytes('\x80\x02', ...parts, '.');

export interface TensorParts {
  key?: string;
  storage?: string;
  count?: number;
  offset?: number;
  shape?: number[];
  strides?: number[];
}

/** A call of _rebuild_tensor_v2 on storage "0" with six float32 elements, unless told otherwise. */
export function tensor({
  key = '0',
  storage = 'torch.FloatStorage',
  count = 6,
  offset = 0,
  shape = [2, 3],
  strides = [3, 1],
}: TensorParts = {}): Part {
  const id = [tuple(str('storage'), global(storage), str(key), str('cpu'), int(count)), 'Q'];
  const sizes = [tuple(...shape.map(int)), tuple(...strides.map(int))];
  const hooks = [global('collections.OrderedDict'), ')R'];
  return call(global('torch._utils._rebuild_tensor_v2'), id, int(offset), ...sizes, '\x89', hooks);
}

export function floats(...values: number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}

/** A zip as torch.save writes it, with storage "0" of 1 .. 6. */
export function torchZip(
  data: Uint8Array,
  extra: Record<string, Uint8Array> = { 'data/0': floats(1, 2, 3, 4, 5, 6) },
  level: 0 | 6 = 0,
): Uint8Array {
  const files = { 'data.pkl': data, ...extra };
  return zipSync(Object.fromEntries(Object.entries(files).map(([name, file]) => [`archive/${name}`, file])), {
    level,
  });
}

export const MAGIC = bytes('\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.');

/** The format before 1.6: head, object, keys, storages. */
export function torchLegacy(
  data: Uint8Array,
  storages: Record<string, Uint8Array> = { 0: floats(1, 2, 3, 4, 5, 6) },
) {
  const machine = pickle(dict(str('protocol_version'), 'M\xe9\x03', str('little_endian'), '\x88'));
  const keys = pickle('](', ...Object.keys(storages).map(str), 'e');
  const values = Object.values(storages).map((v) => bytes(u64(v.length / 4), v));
  return bytes(MAGIC, pickle('M\xe9\x03'), machine, data, keys, ...values);
}

export function open(file: Uint8Array, name = 'a.pth'): Checkpoint {
  return openCheckpointSource(bytesSource(file, name));
}

/** Values by name. */
export function values(checkpoint: Checkpoint): Record<string, number[]> {
  return Object.fromEntries(
    [...checkpoint.entries].map(([name, record]) => [name, [...record.load().toArray()]]),
  );
}
