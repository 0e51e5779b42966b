/** The format of torch.save since 1.6: a zip with `NAME/data.pkl` and one entry `NAME/data/KEY` per storage. */
import { formatBytes, formatCount } from '../../../src/protocol/numbers';
import { CheckpointError } from '../errors';
import { quoteName } from '../record';
import { type ByteSource, bytesSource } from '../source';
import { TorchHost } from './host';
import { unpickle } from './pickle';
import { ByteReader } from './reader';
import type { PickleValue, Storage } from './values';
import { ZipArchive } from './zip';

const MAX_PICKLE = 256 << 20;

/** Reads what was saved. Throws a CheckpointError when the archive is damaged or holds more than tensors. */
export function readArchive(source: ByteSource): PickleValue {
  const zip = new ZipArchive(source);
  const pickle = [...zip.entries.values()].find(({ name }) => /^([^/]*\/)?data\.pkl$/.test(name));
  if (!pickle) throw notTorch(source, zip);
  const root = pickle.name.slice(0, -'data.pkl'.length);
  checkKind(source, zip, root);
  if (pickle.size > MAX_PICKLE) {
    throw new CheckpointError(
      `${source.name} has a data.pkl of ${formatBytes(pickle.size)}, far more than names and shapes need. ` +
        'Save only model.state_dict(), best as safetensors.',
    );
  }
  const host = new TorchHost(source.name, (key, _dtype, bytes) => findStorage(zip, root, key, bytes));
  return unpickle(new ByteReader(bytesSource(zip.read(pickle), source.name)), host);
}

function checkKind(source: ByteSource, zip: ZipArchive, root: string): void {
  if (zip.entries.has(`${root}constants.pkl`)) {
    throw new CheckpointError(
      `${source.name} is a TorchScript archive (torch.jit.save), which holds code. ` +
        'Save its weights with torch.save(module.state_dict(), ...) or as safetensors.',
    );
  }
  const order = zip.entries.get(`${root}byteorder`);
  if (order && order.size < 64 && new TextDecoder().decode(zip.read(order)).trim() === 'big') {
    throw new CheckpointError(
      `${source.name} was saved on a big-endian machine (its byteorder record says so), which is not read. ` +
        'Load and save it again on a little-endian one, or save it as safetensors.',
    );
  }
}

function findStorage(zip: ZipArchive, root: string, key: string, byteLength: number): Storage {
  const entry = zip.entries.get(`${root}data/${key}`);
  const name = zip.source.name;
  if (!entry)
    throw new CheckpointError(`${name} is damaged: storage ${quoteName(key)} is missing. Save it again.`);
  if (entry.size < byteLength) {
    throw new CheckpointError(
      `${name} is damaged: storage ${quoteName(key)} should hold ${formatCount(byteLength)} bytes ` +
        `and holds ${formatCount(entry.size)}. Copy or download it again.`,
    );
  }
  return { key, byteLength, read: (from, length) => zip.read(entry, from, length) };
}

function notTorch(source: ByteSource, zip: ZipArchive): CheckpointError {
  const names = [...zip.entries.keys()];
  const what = names.some((name) => name.endsWith('.npy'))
    ? 'a NumPy .npz archive'
    : 'a zip archive without data.pkl';
  return new CheckpointError(
    `${source.name} is ${what}, not a PyTorch checkpoint. Choose a file saved by torch.save or a safetensors file.`,
  );
}
