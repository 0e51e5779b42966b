/**
 * safetensors: an 8-byte little-endian header length, a JSON header of that length, then the tensors' bytes
 * without holes or overlaps (https://huggingface.co/docs/safetensors).
 */
import { formatBytes, formatCount } from '../../src/protocol/numbers';
import { BYTES, type DType, toFloat32 } from '../tensor/dtype';
import { rowMajor, Tensor } from '../tensor/tensor';
import { encodeValues } from './encode';
import { CheckpointError } from './errors';
import { countElements, formatShape, isCount, quoteName, type TensorRecord } from './record';
import { aligned, type ByteSource, cutShort, dataView, readChecked, readU64 } from './source';

const MAX_HEADER = 100_000_000;
const MAX_RANK = 64;

const DTYPES: Record<string, DType> = {
  F64: 'float64',
  F32: 'float32',
  F16: 'float16',
  BF16: 'bfloat16',
  I64: 'int64',
  I32: 'int32',
  I16: 'int16',
  I8: 'int8',
  U8: 'uint8',
  BOOL: 'bool',
};
const NAMES = new Map(Object.entries(DTYPES).map(([name, dtype]) => [dtype, name]));

interface Slot {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: number[];
  readonly begin: number;
  readonly end: number;
}

/**
 * Reads the header; values are read by each record's `load`. Throws a CheckpointError for a file that is cut
 * short, has a wrong header, an unknown dtype, or offsets that overlap, leave holes or do not fit the shapes.
 */
export function openSafetensors(source: ByteSource): Map<string, TensorRecord> {
  const { header, dataAt } = readHeader(source);
  const slots: Slot[] = [];
  for (const [name, entry] of Object.entries(header)) {
    if (name !== '__metadata__') slots.push(parseSlot(source, name, entry, source.size - dataAt));
  }
  checkTiling(source, slots, source.size - dataAt);
  return new Map(slots.map((slot) => [slot.name, toRecord(source, slot, dataAt)]));
}

/** True when the first bytes look like a safetensors header, whatever the file is called. */
export function looksLikeSafetensors(source: ByteSource): boolean {
  if (source.size < 10) return false;
  const start = source.read(0, 9);
  return start[8] === 0x7b && readU64(dataView(start), 0) < 2 ** 40; // text has no zero bytes there
}

function readHeader(source: ByteSource): { header: object; dataAt: number } {
  const length = readU64(dataView(readChecked(source, 0, 8, 'the header length')), 0);
  if (length > MAX_HEADER) {
    throw new CheckpointError(
      `${source.name} gives its header ${formatBytes(length)}, more than the 100 MB that safetensors allows. ` +
        'The file is damaged or not safetensors; copy or download it again.',
    );
  }
  const bytes = readChecked(source, 8, length, 'the header');
  return { header: parseHeader(source, bytes), dataAt: 8 + length };
}

function parseHeader(source: ByteSource, bytes: Uint8Array): object {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'not valid JSON' : 'not UTF-8 text';
    throw damaged(source, `its header is ${why}`);
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header))
    throw damaged(source, 'its header is not a JSON object');
  return header;
}

function parseSlot(source: ByteSource, name: string, entry: unknown, dataSize: number): Slot {
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>;
  const word = typeof dtype === 'string' ? dtype : `of type ${typeof dtype}`;
  const known = Object.hasOwn(DTYPES, word) ? DTYPES[word] : undefined;
  if (!known) {
    throw new CheckpointError(
      `Tensor ${quoteName(name)} of ${source.name} has dtype ${quoteName(word)}, which Scanpoint does ` +
        `not read. Convert it to one of ${Object.keys(DTYPES).join(', ')}.`,
    );
  }
  if (!Array.isArray(shape) || shape.length > MAX_RANK || !shape.every(isCount))
    throw damaged(source, `the shape of ${quoteName(name)} is not a list of sizes`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount))
    throw damaged(source, `the data_offsets of ${quoteName(name)} are not two byte positions`);
  const slot = { name, dtype: known, shape: shape as number[], begin: offsets[0], end: offsets[1] };
  checkSlot(source, slot, dataSize);
  return slot;
}

function checkSlot(source: ByteSource, slot: Slot, dataSize: number): void {
  const { name, dtype, shape, begin, end } = slot;
  const needed = countElements(shape) * BYTES[dtype];
  if (end < begin || end - begin !== needed) {
    throw damaged(
      source,
      `${quoteName(name)} is ${dtype} ${formatShape(shape)}, ${formatCount(needed)} bytes, ` +
        `but its offsets ${begin} to ${end} hold ${formatCount(end - begin)}`,
    );
  }
  if (end > dataSize) throw cutShort(source, source.size - dataSize + end, `tensor ${quoteName(name)}`);
}

/** The tensors must cover the data exactly once. */
function checkTiling(source: ByteSource, slots: readonly Slot[], dataSize: number): void {
  const inOrder = [...slots].sort((a, b) => a.begin - b.begin || a.end - b.end);
  let covered = 0;
  let last = '';
  for (const { name, begin, end } of inOrder) {
    if (begin < covered) throw damaged(source, `${quoteName(last)} and ${quoteName(name)} share bytes`);
    if (begin > covered)
      throw damaged(
        source,
        `${formatCount(begin - covered)} bytes before ${quoteName(name)} belong to no tensor`,
      );
    covered = end;
    last = name;
  }
  if (covered < dataSize)
    throw damaged(source, `its last ${formatCount(dataSize - covered)} bytes belong to no tensor`);
}

function toRecord(source: ByteSource, slot: Slot, dataAt: number): TensorRecord {
  const { name, dtype, shape, begin, end } = slot;
  const strides = rowMajor(shape);
  return {
    name,
    dtype,
    shape,
    strides,
    load() {
      const bytes = aligned(readChecked(source, dataAt + begin, end - begin, `tensor ${quoteName(name)}`));
      return new Tensor(toFloat32(dtype, bytes, countElements(shape)), shape, strides, 0, dtype);
    },
  };
}

function damaged(source: ByteSource, what: string): CheckpointError {
  return new CheckpointError(
    `${source.name} is not a sound safetensors file: ${what}. Copy, download or save it again.`,
  );
}

/**
 * A safetensors file of these tensors, each in its own `dtype`; `metadata` goes to `__metadata__`. Larger
 * elements come first, so every tensor is aligned for zero-copy reading.
 */
export function writeSafetensors(
  tensors: Iterable<readonly [string, Tensor]>,
  metadata?: Record<string, string>,
): Uint8Array {
  const sorted = [...tensors].sort(([a, x], [b, y]) => BYTES[y.dtype] - BYTES[x.dtype] || (a < b ? -1 : 1));
  const header: [string, unknown][] = metadata ? [['__metadata__', metadata]] : [];
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const [name, tensor] of sorted) {
    const bytes = encodeValues(tensor.dtype, tensor.toArray());
    const offsets = [at, at + bytes.length];
    header.push([name, { dtype: NAMES.get(tensor.dtype), shape: tensor.shape, data_offsets: offsets }]);
    chunks.push(bytes);
    at += bytes.length;
  }
  return assemble(Object.fromEntries(header), chunks, at);
}

function assemble(header: object, chunks: readonly Uint8Array[], dataSize: number): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const headerSize = Math.ceil(json.length / 8) * 8;
  const out = new Uint8Array(8 + headerSize + dataSize).fill(0x20, 8, 8 + headerSize);
  dataView(out).setBigUint64(0, BigInt(headerSize), true);
  out.set(json, 8);
  let at = 8 + headerSize;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}
