/** Loads a model's input from an image or from a file of tensors; the format is found by content. */
import { type Checkpoint, openCheckpointSource } from '../checkpoint';
import { CheckpointError, InputError } from '../checkpoint/errors';
import { fileSource } from '../checkpoint/file';
import { describeForeign } from '../checkpoint/foreign';
import { looksLikeNpy, readNpy } from '../checkpoint/npy';
import { looksLikePickle, looksLikeZip } from '../checkpoint/pytorch';
import { formatShape, type TensorRecord } from '../checkpoint/record';
import { looksLikeSafetensors } from '../checkpoint/safetensors';
import type { ByteSource } from '../checkpoint/source';
import { Tensor } from '../tensor/tensor';
import { decodeImage, looksLikeImage } from './decode';
import { defaultPreprocess, preprocess, readPreprocess } from './preprocess';

export interface InputRequest {
  readonly channels: number;
  readonly imgSize: number;
  /** Keys of `Preprocess` that differ from the original's evaluation; for images only. */
  readonly preprocess?: Record<string, unknown>;
}

export interface LoadedInput {
  /** (B, C, H, W) in float32. */
  readonly input: Tensor;
  /** One class per image, if the file holds `labels`. */
  readonly labels?: number[];
  /** One sentence: what was read and what was done to it. */
  readonly described: string;
}

const TAKEN =
  'Inputs are taken from PNG and JPEG images, .npy arrays, and safetensors or PyTorch files with a tensor "input".';
const FLOATS = new Set(['float64', 'float32', 'float16', 'bfloat16']);

/** Loads a file. Rejects with an InputError that says what is wrong and what to do. */
export async function loadInput(path: string, request: InputRequest): Promise<LoadedInput> {
  return asInputError(() => loadInputSource(fileSource(path), request));
}

/** The same on a source. Throws an InputError. */
export function loadInputSource(source: ByteSource, request: InputRequest): LoadedInput {
  return asInputError(() => {
    if (looksLikeImage(source)) return fromImage(source, request);
    if (looksLikeNpy(source)) return fromNpy(source, request);
    if (looksLikeZip(source) || looksLikePickle(source) || looksLikeSafetensors(source))
      return fromTensors(source, request);
    const foreign = describeForeign(source);
    throw new InputError(`${source.name} is ${foreign ?? 'of no known format.'} ${TAKEN}`);
  });
}

function asInputError<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw error instanceof CheckpointError ? new InputError(error.message) : error;
  }
}

function fromImage(source: ByteSource, request: InputRequest): LoadedInput {
  const settings = readPreprocess(
    request.preprocess ?? {},
    defaultPreprocess(request.imgSize, request.channels),
  );
  const image = decodeImage(source);
  const { tensor, steps } = preprocess(image, settings);
  checkShape(source, tensor.shape, request, ' after "preprocess"');
  const described = `${source.name}, ${image.width} x ${image.height} pixels: ${steps.join(', ')}.`;
  return { input: tensor, described };
}

function fromNpy(source: ByteSource, request: InputRequest): LoadedInput {
  const tensor = readNpy(source);
  const input = asBatch(source, tensor, request);
  return { input, described: `${source.name}: ${tensor.dtype} ${formatShape(tensor.shape)}, used as it is.` };
}

function fromTensors(source: ByteSource, request: InputRequest): LoadedInput {
  const { entries } = openCheckpointSource(source);
  const record = inputRecord(source, entries);
  const input = asBatch(source, record.load(), request);
  const labels = readLabels(source, entries, input.shape[0]);
  const described =
    `"${record.name}" of ${source.name}: ${record.dtype} ${formatShape(record.shape)}, used as it is` +
    `${labels ? `, with labels ${labels.slice(0, 8).join(', ')}${labels.length > 8 ? ' ...' : ''}` : ''}.`;
  return { input, labels, described };
}

function inputRecord(source: ByteSource, entries: Checkpoint['entries']): TensorRecord {
  const record = entries.get('input') ?? (entries.size === 1 ? [...entries.values()][0] : undefined);
  if (record) return record;
  const names = [...entries.keys()];
  const shown = `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
  throw new InputError(
    `${source.name} has no tensor "input", but ${shown}. Save the images under the name "input".`,
  );
}

/** (C, H, W) or (B, C, H, W) of floating point values to a contiguous (B, C, H, W). */
function asBatch(source: ByteSource, tensor: Tensor, request: InputRequest): Tensor {
  const { dtype, rank } = tensor;
  if (rank !== 3 && rank !== 4)
    throw new InputError(
      `The input in ${source.name} has shape ${formatShape(tensor.shape)}; it takes (C, H, W) or (B, C, H, W).`,
    );
  if (!FLOATS.has(dtype)) {
    throw new InputError(
      `The input in ${source.name} is ${dtype}, and tensors are used as they are. ` +
        'Normalise it as in training and save it as float32, or give the image itself.',
    );
  }
  const shape = rank === 3 ? [1, ...tensor.shape] : [...tensor.shape];
  checkShape(source, shape, request, '');
  return new Tensor(tensor.toArray(), shape, undefined, 0, dtype, ['B', 'C', 'H', 'W']);
}

function checkShape(
  source: ByteSource,
  shape: readonly number[],
  { channels, imgSize }: InputRequest,
  when: string,
): void {
  const [batch, c, h, w] = shape;
  if (batch === 0)
    throw new InputError(`The input in ${source.name} is an empty batch. Give at least one image.`);
  if (c === channels && h === imgSize && w === imgSize) return;
  const last =
    c !== channels && w === channels ? ' The channels seem to come last: transpose it to (C, H, W).' : '';
  throw new InputError(
    `The input in ${source.name} is ${c} x ${h} x ${w} (C x H x W)${when}, but the model takes ` +
      `${channels} x ${imgSize} x ${imgSize}.${last || ' Give an input of that size, or set img_size and channels.'}`,
  );
}

function readLabels(source: ByteSource, entries: Checkpoint['entries'], batch: number): number[] | undefined {
  const record = entries.get('labels');
  if (!record) return undefined;
  const count = record.shape.reduce((n, size) => n * size, 1);
  if (record.shape.length > 1 || count !== batch) {
    throw new InputError(
      `"labels" of ${source.name} has shape ${formatShape(record.shape)}; ${batch} images take [${batch}].`,
    );
  }
  const labels = [...record.load().toArray()];
  if (labels.every((label) => Number.isInteger(label) && label >= 0)) return labels;
  throw new InputError(
    `"labels" of ${source.name} are not all whole numbers from 0. Save class indices as int64.`,
  );
}
