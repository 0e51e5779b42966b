/** Opens a checkpoint of any known format; the format is found by content, not by the file's extension. */
import { CheckpointError } from './errors';
import { fileSource } from './file';
import { describeForeign } from './foreign';
import { looksLikePickle, looksLikeZip, openTorchArchive, openTorchLegacy } from './pytorch';
import type { TensorRecord } from './record';
import { looksLikeSafetensors, openSafetensors } from './safetensors';
import type { ByteSource } from './source';

export { CheckpointError, InputError } from './errors';
export { formatKeyReport, type KeyGroup, type KeyReport, matchKeys } from './match';
export { readNpy, writeNpy } from './npy';
export type { TensorRecord } from './record';
export { openSafetensors, writeSafetensors } from './safetensors';
export { type ByteSource, bytesSource } from './source';

export type CheckpointFormat = 'safetensors' | 'pytorch-zip' | 'pytorch-legacy';

export interface Checkpoint {
  readonly path: string;
  readonly format: CheckpointFormat;
  /** Tensors by the name that a model gives them, nesting and common prefixes undone. */
  readonly entries: Map<string, TensorRecord>;
  /** What nesting was undone, e.g. `key "model"`, `prefix "module."`. */
  readonly nested: string[];
  /** What the file holds beside the weights (epoch, optimizer) and is left out. */
  readonly ignored: string[];
}

/** Opens a file. Rejects with a CheckpointError that says what is wrong and what to do. */
export async function openCheckpoint(path: string): Promise<Checkpoint> {
  return openCheckpointSource(fileSource(path), path);
}

/** The same on a source. Throws a CheckpointError. */
export function openCheckpointSource(source: ByteSource, path = source.name): Checkpoint {
  const { format, records, opened, ignored } = openAny(source);
  const { entries, prefixes } = stripPrefixes(records);
  const nested = [...opened.map((key) => `key "${key}"`), ...prefixes.map((prefix) => `prefix "${prefix}"`)];
  return { path, format, entries, nested, ignored };
}

interface Opened {
  readonly format: CheckpointFormat;
  readonly records: Map<string, TensorRecord>;
  readonly opened: string[];
  readonly ignored: string[];
}

function openAny(source: ByteSource): Opened {
  if (looksLikeZip(source)) return { format: 'pytorch-zip', ...openTorchArchive(source) };
  if (looksLikePickle(source)) return { format: 'pytorch-legacy', ...openTorchLegacy(source) };
  if (looksLikeSafetensors(source))
    return { format: 'safetensors', records: openSafetensors(source), opened: [], ignored: [] };
  const foreign = describeForeign(source);
  throw new CheckpointError(
    foreign
      ? `${source.name} is ${foreign}`
      : `${source.name} is neither a safetensors file nor one saved by torch.save. Choose a checkpoint in one of these formats.`,
  );
}

/** Prefixes that wrappers put before every name: DistributedDataParallel, torch.compile, Lightning. */
const PREFIXES = ['module.', '_orig_mod.', 'model.'];

function stripPrefixes(records: Map<string, TensorRecord>): {
  entries: Map<string, TensorRecord>;
  prefixes: string[];
} {
  const prefixes: string[] = [];
  let entries = records;
  for (;;) {
    const names = [...entries.keys()];
    const prefix = PREFIXES.find((p) => names.length > 0 && names.every((name) => name.startsWith(p)));
    if (!prefix || prefixes.length >= 4) return { entries, prefixes };
    prefixes.push(prefix);
    entries = new Map(
      [...entries].map(([name, record]) => [
        name.slice(prefix.length),
        { ...record, name: name.slice(prefix.length) },
      ]),
    );
  }
}
