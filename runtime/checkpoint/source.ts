import { formatCount } from '../../src/protocol/numbers';
import { CheckpointError } from './errors';

/** Bytes that can be read in pieces: a file, or an array in a test. */
export interface ByteSource {
  /** What messages call it, e.g. `vim_t.pth`. */
  readonly name: string;
  readonly size: number;
  /** Bytes `at` .. `at + length - 1`; the caller has checked both against `size`. May share memory. */
  read(at: number, length: number): Uint8Array;
}

export function bytesSource(bytes: Uint8Array, name = 'data'): ByteSource {
  return { name, size: bytes.length, read: (at, length) => bytes.subarray(at, at + length) };
}

/** Reads within the source's size, so that a wrong length in a file never allocates anything. */
export function readChecked(source: ByteSource, at: number, length: number, what: string): Uint8Array {
  if (!(at >= 0 && length >= 0 && at + length <= source.size)) throw cutShort(source, at + length, what);
  return source.read(at, length);
}

export function cutShort(source: ByteSource, needed: number, what: string): CheckpointError {
  return new CheckpointError(
    `${source.name} is cut short: ${what} needs ${formatCount(needed)} bytes of file, ` +
      `but there are ${formatCount(source.size)}. Copy or download it again.`,
  );
}

/** A view on bytes that DataView reads as little-endian. */
export function dataView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** An unsigned 64-bit count; values beyond 2^53 come back as Infinity and so fail every size check. */
export function readU64(view: DataView, at: number): number {
  const value = Number(view.getBigUint64(at, true));
  return Number.isSafeInteger(value) ? value : Number.POSITIVE_INFINITY;
}

/** The same bytes where a float32 array may lie on them without a copy. */
export function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
}
