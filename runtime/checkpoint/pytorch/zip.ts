/** Zip archives by their central directory, with zip64; entries that are stored are read in place. */
import { Inflate } from 'fflate';
import { formatBytes, formatCount } from '../../../src/protocol/numbers';
import { CheckpointError } from '../errors';
import { quoteName } from '../record';
import { type ByteSource, dataView, readChecked, readU64 } from '../source';

const END = 0x06054b50;
const END64_LOCATOR = 0x07064b50;
const END64 = 0x06064b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const ESCAPED = 0xffffffff; // the true value is in the zip64 field
const MAX_DIRECTORY = 1 << 26;
/** Deflate cannot pack more than 1032 bytes into one. */
const MAX_RATIO = 1032;

const text = new TextDecoder();

export interface ZipEntry {
  readonly name: string;
  readonly size: number;
  readonly packedSize: number;
  readonly deflated: boolean;
  readonly headerAt: number;
  /** Where the next entry or the directory starts: its data must end before. */
  limit: number;
}

interface Directory {
  readonly at: number;
  readonly size: number;
  readonly count: number;
}

export class ZipArchive {
  readonly entries: ReadonlyMap<string, ZipEntry>;
  /** The last inflated entry, since tensors often share one. */
  private inflated: { entry: ZipEntry; bytes: Uint8Array } | undefined;

  /** Reads the directory. Throws a CheckpointError when it is damaged or entries overlap. */
  constructor(readonly source: ByteSource) {
    const directory = findDirectory(source);
    const entries = readDirectory(source, directory);
    setLimits(source, entries, directory.at);
    this.entries = new Map(entries.map((entry) => [entry.name, entry]));
    if (this.entries.size < entries.length) throw damaged(source, 'two of its entries have the same name');
  }

  /** Bytes `from` .. `from + length - 1` of an entry. */
  read(entry: ZipEntry, from = 0, length = entry.size): Uint8Array {
    if (from + length > entry.size) throw damaged(this.source, `${quoteName(entry.name)} is too short`);
    const at = this.dataAt(entry);
    if (!entry.deflated) return readChecked(this.source, at + from, length, `entry ${quoteName(entry.name)}`);
    if (this.inflated?.entry !== entry) {
      const packed = readChecked(this.source, at, entry.packedSize, `entry ${quoteName(entry.name)}`);
      this.inflated = { entry, bytes: inflate(this.source, entry, packed) };
    }
    return this.inflated.bytes.subarray(from, from + length);
  }

  private dataAt(entry: ZipEntry): number {
    const header = dataView(readChecked(this.source, entry.headerAt, 30, `entry ${quoteName(entry.name)}`));
    if (header.getUint32(0, true) !== LOCAL)
      throw damaged(this.source, `${quoteName(entry.name)} does not start where the directory says`);
    const at = entry.headerAt + 30 + header.getUint16(26, true) + header.getUint16(28, true);
    if (at + entry.packedSize > entry.limit)
      throw damaged(this.source, `${quoteName(entry.name)} reaches into the next entry`);
    return at;
  }
}

export function looksLikeZip(source: ByteSource): boolean {
  return source.size >= 4 && dataView(source.read(0, 4)).getUint32(0, true) === LOCAL;
}

function findDirectory(source: ByteSource): Directory {
  const length = Math.min(source.size, 22 + 0xffff); // the end record and the longest comment
  const tailAt = source.size - length;
  const tail = dataView(source.read(tailAt, length));
  for (let i = length - 22; i >= 0; i--) {
    if (tail.getUint32(i, true) !== END || i + 22 + tail.getUint16(i + 20, true) > length) continue;
    const count = tail.getUint16(i + 10, true);
    const directory = { count, size: tail.getUint32(i + 12, true), at: tail.getUint32(i + 16, true) };
    return checkDirectory(source, findDirectory64(source, tailAt + i) ?? directory);
  }
  throw new CheckpointError(
    `${source.name} is cut short: it starts as a zip archive but has no directory at its end. ` +
      'Copy or download it again.',
  );
}

function findDirectory64(source: ByteSource, endAt: number): Directory | undefined {
  if (endAt < 20) return undefined;
  const locator = dataView(source.read(endAt - 20, 20));
  if (locator.getUint32(0, true) !== END64_LOCATOR) return undefined;
  const record = dataView(readChecked(source, readU64(locator, 8), 56, 'the zip64 directory'));
  if (record.getUint32(0, true) !== END64)
    throw damaged(source, 'its zip64 directory is not where it should be');
  return { count: readU64(record, 32), size: readU64(record, 40), at: readU64(record, 48) };
}

function checkDirectory(source: ByteSource, directory: Directory): Directory {
  const { at, size, count } = directory;
  if (at + size > source.size || size > MAX_DIRECTORY || count * 46 > size)
    throw damaged(source, `its directory of ${formatCount(count)} entries does not fit`);
  return directory;
}

function readDirectory(source: ByteSource, { at, size, count }: Directory): ZipEntry[] {
  const bytes = readChecked(source, at, size, 'the zip directory');
  const view = dataView(bytes);
  const entries: ZipEntry[] = [];
  let i = 0;
  for (let n = 0; n < count; n++) {
    if (i + 46 > size || view.getUint32(i, true) !== CENTRAL)
      throw damaged(source, 'its directory is broken');
    const nameEnd = i + 46 + view.getUint16(i + 28, true);
    const extraEnd = nameEnd + view.getUint16(i + 30, true);
    const next = extraEnd + view.getUint16(i + 32, true);
    if (next > size) throw damaged(source, 'its directory is broken');
    const name = text.decode(bytes.subarray(i + 46, nameEnd));
    entries.push(readEntry(source, view, i, name, nameEnd, extraEnd));
    i = next;
  }
  return entries;
}

function readEntry(
  source: ByteSource,
  view: DataView,
  at: number,
  name: string,
  extraAt: number,
  extraEnd: number,
): ZipEntry {
  const method = view.getUint16(at + 10, true);
  if (view.getUint16(at + 8, true) & 1) throw damaged(source, `${quoteName(name)} is encrypted`);
  if (method !== 0 && method !== 8)
    throw damaged(
      source,
      `${quoteName(name)} uses compression method ${method}; only stored and deflate are read`,
    );
  const sizes = [view.getUint32(at + 24, true), view.getUint32(at + 20, true), view.getUint32(at + 42, true)];
  const [size, packedSize, headerAt] = unescape64(source, view, sizes, extraAt, extraEnd);
  if (method === 0 ? size !== packedSize : size > packedSize * MAX_RATIO)
    throw damaged(source, `${quoteName(name)} cannot unpack from ${packedSize} to ${size} bytes`);
  return { name, size, packedSize, deflated: method === 8, headerAt, limit: 0 };
}

/** Values of 0xffffffff stand, in order, in the extra field with id 1. */
function unescape64(
  source: ByteSource,
  view: DataView,
  values: number[],
  from: number,
  end: number,
): number[] {
  if (!values.includes(ESCAPED)) return values;
  for (let i = from; i + 4 <= end; i += 4 + view.getUint16(i + 2, true)) {
    if (view.getUint16(i, true) !== 1) continue;
    let at = i + 4;
    return values.map((value) => {
      if (value !== ESCAPED) return value;
      if (at + 8 > end) throw damaged(source, 'a zip64 field is too short');
      at += 8;
      return readU64(view, at - 8);
    });
  }
  throw damaged(source, 'a zip64 field is missing');
}

/** Entries must not share bytes: crafted archives unpack the same data many times. */
function setLimits(source: ByteSource, entries: readonly ZipEntry[], directoryAt: number): void {
  const inOrder = [...entries].sort((a, b) => b.headerAt - a.headerAt);
  let limit = directoryAt;
  for (const entry of inOrder) {
    if (entry.headerAt + 30 + entry.packedSize > limit)
      throw damaged(source, `${quoteName(entry.name)} reaches into the next entry`);
    entry.limit = limit;
    limit = entry.headerAt;
  }
}

function inflate(source: ByteSource, entry: ZipEntry, packed: Uint8Array): Uint8Array {
  const out = new Uint8Array(entry.size);
  let at = 0;
  let finished = false;
  const inflator = new Inflate((chunk, final) => {
    if (at + chunk.length > out.length)
      throw damaged(source, `${quoteName(entry.name)} unpacks to more than its ${formatBytes(entry.size)}`);
    out.set(chunk, at);
    at += chunk.length;
    finished = final;
  });
  const step = 1 << 14; // becomes at most 17 MB before it is counted
  try {
    for (let i = 0; i < packed.length; i += step)
      inflator.push(packed.subarray(i, i + step), i + step >= packed.length);
  } catch (error) {
    if (error instanceof CheckpointError) throw error;
    throw damaged(source, `the compressed data of ${quoteName(entry.name)} is broken`);
  }
  if (!finished || at !== out.length)
    throw damaged(
      source,
      `${quoteName(entry.name)} unpacks to ${formatCount(at)} bytes, not ${formatCount(out.length)}`,
    );
  return out;
}

function damaged(source: ByteSource, what: string): CheckpointError {
  return new CheckpointError(
    `${source.name} is a damaged zip archive: ${what}. Copy, download or save it again.`,
  );
}
