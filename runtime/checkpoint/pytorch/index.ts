import type { ByteSource } from '../source';
import { readArchive } from './archive';
import { looksLikePickle, readLegacy } from './legacy';
import { type SelectedTensors, selectTensors } from './tensors';
import { looksLikeZip } from './zip';

export type { SelectedTensors };
export { looksLikePickle, looksLikeZip };

/** The weights in a file of torch.save since 1.6 (zip). Throws a CheckpointError; runs nothing of the file. */
export function openTorchArchive(source: ByteSource): SelectedTensors {
  return selectTensors(readArchive(source), source.name);
}

/** The weights in a file of torch.save before 1.6. Throws a CheckpointError; runs nothing of the file. */
export function openTorchLegacy(source: ByteSource): SelectedTensors {
  return selectTensors(readLegacy(source), source.name);
}
