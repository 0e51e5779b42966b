/** Loads a model's input from an image, a file of tensors or a list of token ids; the format is found by content. */
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
  /** (B, C, H, W) in float32, or token ids (B, L). */
  readonly input: Tensor;
  /** One class per image, if the file holds `labels`. */
  readonly labels?: number[];
  /** One sentence: what was read and what was done to it. */
  readonly described: string;
}

const TAKEN =
  'Inputs are taken from PNG and JPEG images, .npy arrays, and safetensors or PyTorch files with a tensor "input".';
const TOKENS_TAKEN =
  'Token ids are taken from .npy arrays, safetensors or PyTorch files with a tensor "input_ids", and JSON lists.';
const LARGEST_LIST = 1 << 26;
const INTEGERS = new Set(['int64', 'int32', 'int16', 'int8', 'uint8']);
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

/** Loads the token ids (B, L) of a language model. Rejects with an InputError, as above. */
export async function loadTokens(path: string, vocabSize: number): Promise<LoadedInput> {
  return asInputError(() => loadTokensSource(fileSource(path), vocabSize));
}

/** The same on a source. Throws an InputError. */
export function loadTokensSource(source: ByteSource, vocabSize: number): LoadedInput {
  return asInputError(() => {
    const ids = asSequences(source, readTokens(source));
    checkTokens(source.name, ids, vocabSize);
    const [batch, length] = ids.shape;
    const sequences = batch > 1 ? `${batch} sequences of ${length} tokens` : `${length} tokens`;
    return { input: ids, described: `${source.name}: ${sequences}.` };
  });
}

function readTokens(source: ByteSource): Tensor {
  if (looksLikeNpy(source)) return readNpy(source);
  if (looksLikeZip(source) || looksLikePickle(source) || looksLikeSafetensors(source)) {
    const { entries } = openCheckpointSource(source);
    return inputRecord(source, entries, 'input_ids', 'token ids').load();
  }
  const list = jsonList(source);
  if (list) return list;
  const foreign = looksLikeImage(source) ? 'an image, but the model reads tokens.' : describeForeign(source);
  throw new InputError(`${source.name} is ${foreign ?? 'of no known format.'} ${TOKENS_TAKEN}`);
}

/** `[1, 2, 3]`, or several of the same length in a list; undefined when the file does not start like one. */
function jsonList(source: ByteSource): Tensor | undefined {
  if (source.size > LARGEST_LIST) return undefined;
  const text = new TextDecoder().decode(source.read(0, source.size)).trim();
  if (!text.startsWith('[')) return undefined;
  const rows = tokenRows(text);
  if (!rows) {
    throw new InputError(
      `${source.name} is not a JSON list of token ids. Write [1, 2, 3], or several lists of one length in a list.`,
    );
  }
  const data = Float32Array.from(rows.flat());
  return new Tensor(data, [rows.length, rows[0]?.length ?? 0], undefined, 0, 'int64');
}

function tokenRows(text: string): number[][] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  const rows: unknown[] = Array.isArray(list) && list.every(Array.isArray) ? list : [list];
  const isRow = (row: unknown): row is number[] =>
    Array.isArray(row) && row.every((id) => typeof id === 'number' && Number.isInteger(id));
  return rows.every(isRow) && rows.every((row) => row.length === rows[0].length) ? rows : undefined;
}

/** (L) or (B, L) of whole numbers to a contiguous (B, L). */
function asSequences(source: ByteSource, tensor: Tensor): Tensor {
  const { dtype, rank } = tensor;
  if (rank !== 1 && rank !== 2)
    throw new InputError(
      `The token ids in ${source.name} have shape ${formatShape(tensor.shape)}; they take (L) or (B, L).`,
    );
  if (!INTEGERS.has(dtype))
    throw new InputError(`The token ids in ${source.name} are ${dtype}. Save them as int64.`);
  const shape = rank === 1 ? [1, ...tensor.shape] : [...tensor.shape];
  return new Tensor(tensor.toArray(), shape, undefined, 0, dtype, ['B', 'L']);
}

/** Throws an InputError unless all of the ids (B, L) are in the vocabulary, and there is at least one. */
export function checkTokens(name: string, ids: Tensor, vocabSize: number): void {
  if (ids.numel === 0) throw new InputError(`${name} holds no tokens. Give at least one.`);
  const wrong = ids.data.findIndex((id) => id < 0 || id >= vocabSize);
  if (wrong < 0) return;
  const [b, t] = ids.indexOf(wrong);
  throw new InputError(
    `Token ${t} of sequence ${b} in ${name} is ${ids.at(b, t)}, but the model's ${vocabSize} tokens are ` +
      `0 to ${vocabSize - 1}. Use the tokenizer that the model was trained with.`,
  );
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
  const record = inputRecord(source, entries, 'input', 'images');
  const input = asBatch(source, record.load(), request);
  const labels = readLabels(source, entries, input.shape[0]);
  const described =
    `"${record.name}" of ${source.name}: ${record.dtype} ${formatShape(record.shape)}, used as it is` +
    `${labels ? `, with labels ${labels.slice(0, 8).join(', ')}${labels.length > 8 ? ' ...' : ''}` : ''}.`;
  return { input, labels, described };
}

function inputRecord(
  source: ByteSource,
  entries: Checkpoint['entries'],
  name: string,
  what: string,
): TensorRecord {
  const record = entries.get(name) ?? (entries.size === 1 ? [...entries.values()][0] : undefined);
  if (record) return record;
  const names = [...entries.keys()];
  const shown = `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
  throw new InputError(
    `${source.name} has no tensor "${name}", but ${shown}. Save the ${what} under the name "${name}".`,
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
