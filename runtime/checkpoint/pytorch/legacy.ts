/**
 * The format of torch.save before 1.6: pickles of a magic number, a version, the machine and the object, then a
 * pickled list of storage keys and for each key its element count (int64) and its values.
 */
import { formatCount } from '../../../src/protocol/numbers';
import { BYTES, type DType } from '../../tensor/dtype';
import { CheckpointError } from '../errors';
import { quoteName } from '../record';
import { type ByteSource, readChecked, readU64 } from '../source';
import { TorchHost } from './host';
import { type PickleHost, unpickle } from './pickle';
import { ByteReader } from './reader';
import { Dict, List, type PickleValue, type Storage } from './values';

const MAGIC = 0x1950a86a20f9469cfc6cn;
const VERSION = 1001;

/** A storage whose place in the file is known only after the object has been read. */
class LegacyStorage implements Storage {
  private at: number | undefined;

  constructor(
    private readonly source: ByteSource,
    readonly key: string,
    readonly itemSize: number,
    readonly byteLength: number,
  ) {}

  place(at: number): void {
    this.at = at;
  }

  get placed(): boolean {
    return this.at !== undefined;
  }

  read(from: number, length: number): Uint8Array {
    return readChecked(this.source, (this.at ?? 0) + from, length, `storage ${quoteName(this.key)}`);
  }
}

/** True when the file starts with a pickle; only then may it be the old format. */
export function looksLikePickle(source: ByteSource): boolean {
  if (source.size < 2) return false;
  const [first, second] = source.read(0, 2);
  return first === 0x80 && second >= 2 && second <= 5;
}

/** Reads what was saved. Throws a CheckpointError when the file is damaged or holds more than tensors. */
export function readLegacy(source: ByteSource): PickleValue {
  const reader = new ByteReader(source);
  const plain = new TorchHost(source.name, () => {
    throw damaged(source, 'a storage is named in its head');
  });
  checkHead(source, reader, plain);
  const storages = new Map<string, LegacyStorage>();
  const host = new TorchHost(source.name, (key, dtype, bytes) =>
    rememberStorage(source, storages, key, dtype, bytes),
  );
  const root = unpickle(reader, host);
  placeStorages(source, reader, unpickle(reader, plain), storages);
  return root;
}

function checkHead(source: ByteSource, reader: ByteReader, host: PickleHost): void {
  if (unpickle(reader, host) !== MAGIC) {
    throw new CheckpointError(
      `${source.name} is a Python pickle but not one of torch.save. ` +
        'Save the weights with torch.save(model.state_dict(), ...) or as safetensors.',
    );
  }
  const version = unpickle(reader, host);
  if (version !== VERSION) throw damaged(source, 'its format version is not 1001');
  const machine = unpickle(reader, host);
  if (machine instanceof Dict && machine.get('little_endian') === false) {
    throw new CheckpointError(
      `${source.name} was saved on a big-endian machine (its head says so), which is not read. ` +
        'Load and save it again on a little-endian one, or save it as safetensors.',
    );
  }
}

function rememberStorage(
  source: ByteSource,
  storages: Map<string, LegacyStorage>,
  key: string,
  dtype: DType | undefined,
  byteLength: number,
): Storage {
  const known = storages.get(key);
  if (known) {
    if (known.byteLength !== byteLength) throw damaged(source, `storage ${quoteName(key)} has two sizes`);
    return known;
  }
  if (byteLength > source.size) throw damaged(source, `storage ${quoteName(key)} is larger than the file`);
  const storage = new LegacyStorage(source, key, dtype ? BYTES[dtype] : 1, byteLength);
  storages.set(key, storage);
  return storage;
}

function placeStorages(
  source: ByteSource,
  reader: ByteReader,
  keys: PickleValue,
  storages: ReadonlyMap<string, LegacyStorage>,
): void {
  for (const key of keys instanceof List ? keys.items : []) {
    const storage = storages.get(String(typeof key === 'object' ? '' : key));
    if (!storage) throw damaged(source, 'its list of storages names one that no tensor uses');
    const bytes = readU64(reader.view(8), 0) * storage.itemSize;
    if (bytes !== storage.byteLength || bytes > reader.left) {
      throw damaged(
        source,
        `storage ${quoteName(storage.key)} should hold ${formatCount(storage.byteLength)} bytes, ` +
          `its head says ${formatCount(bytes)} and ${formatCount(reader.left)} are left`,
      );
    }
    storage.place(reader.position);
    reader.skip(bytes);
  }
  const lost = [...storages.values()].find((storage) => !storage.placed);
  if (lost) throw damaged(source, `storage ${quoteName(lost.key)} has no values`);
}

function damaged(source: ByteSource, what: string): CheckpointError {
  return new CheckpointError(`${source.name} is damaged or cut short: ${what}. Copy or download it again.`);
}
