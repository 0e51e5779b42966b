import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { CheckpointError } from './errors';
import type { ByteSource } from './source';

const LARGEST_READ = 1 << 30;

/**
 * A file as a source. It is opened for each read, so no handle stays open while a session lasts (a training run
 * may replace the file), and a file that has changed since is noticed.
 */
export function fileSource(path: string): ByteSource {
  const first = explained(path, () => statSync(path));
  if (first.isDirectory())
    throw new CheckpointError(`${path} is a folder. Name the checkpoint or input file inside it.`);
  if (!first.isFile()) throw new CheckpointError(`${path} is not a regular file. Name a file on disk.`);
  return {
    name: basename(path),
    size: first.size,
    read: (at, length) => explained(path, () => readRange(path, first, at, length)),
  };
}

function readRange(path: string, first: Stats, at: number, length: number): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const now = fstatSync(file);
    if (now.size !== first.size || now.mtimeMs !== first.mtimeMs)
      throw new CheckpointError(`${basename(path)} changed while it was being read. Start again.`);
    return readFully(file, path, at, length);
  } finally {
    closeSync(file);
  }
}

function readFully(file: number, path: string, at: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length; ) {
    const n = readSync(file, bytes, done, Math.min(length - done, LARGEST_READ), at + done);
    if (n === 0) throw new CheckpointError(`${basename(path)} ended early while it was read. Start again.`);
    done += n;
  }
  return bytes;
}

const REASONS: Record<string, string> = {
  ENOENT: 'does not exist. Check the path.',
  ENOTDIR: 'does not exist: a part of its path is a file. Check the path.',
  EACCES: 'may not be read. Check its permissions.',
  EPERM: 'may not be read. Check its permissions.',
  EISDIR: 'is a folder. Name the file inside it.',
};

/** File system errors as one sentence. */
function explained<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof CheckpointError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new CheckpointError(
      `${path} ${REASONS[code] ?? `cannot be read (${code}). Check the disk or mount.`}`,
    );
  }
}
