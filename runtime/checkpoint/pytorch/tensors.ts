/** From what a pickle held to records: finds the weights below `model`, `state_dict` and the like. */
import { BYTES, toFloat32 } from '../../tensor/dtype';
import { Tensor } from '../../tensor/tensor';
import { CheckpointError } from '../errors';
import { quoteName, type TensorRecord } from '../record';
import { aligned } from '../source';
import { extent } from './host';
import { Dict, kindOf, PickledTensor, type PickleValue } from './values';

/** Where training scripts put the weights, preferred first: the trained ones before their moving average. */
const WRAPPERS = [
  'model',
  'state_dict',
  'model_state_dict',
  'module',
  'net',
  'network',
  'weights',
  'ema_state_dict',
  'model_ema',
  'state_dict_ema',
  'ema',
];
const MAX_DEPTH = 4;

export interface SelectedTensors {
  readonly records: Map<string, TensorRecord>;
  /** Keys that were opened, outermost first. */
  readonly opened: string[];
  /** Siblings that hold no weights and were left out (epoch, optimizer). */
  readonly ignored: string[];
}

/** Picks the dict of weights out of what was saved. Throws a CheckpointError when there is none. */
export function selectTensors(saved: PickleValue, file: string): SelectedTensors {
  if (saved instanceof PickledTensor) {
    return { records: new Map([['tensor', toRecord('tensor', saved)]]), opened: [], ignored: [] };
  }
  const opened: string[] = [];
  const ignored: string[] = [];
  let dict: PickleValue = saved;
  for (let depth = 0; depth < MAX_DEPTH && dict instanceof Dict; depth++) {
    const key = wrapperIn(dict);
    if (key === undefined) break;
    ignored.push(...namesIn(dict).filter((name) => name !== key));
    opened.push(key);
    dict = dict.get(key) ?? null;
  }
  return { records: collect(dict, file, ignored), opened, ignored };
}

function wrapperIn(dict: Dict): string | undefined {
  return WRAPPERS.find((key) => {
    const inner = dict.get(key);
    return inner instanceof Dict && (hasTensors(inner) || WRAPPERS.some((k) => inner.get(k) instanceof Dict));
  });
}

function hasTensors(dict: Dict): boolean {
  for (const [, value] of dict.entries()) if (value instanceof PickledTensor) return true;
  return false;
}

function namesIn(dict: Dict): string[] {
  const names: string[] = [];
  for (const [key] of dict.entries()) if (typeof key === 'string') names.push(key);
  return names;
}

function collect(saved: PickleValue, file: string, ignored: string[]): Map<string, TensorRecord> {
  const records = new Map<string, TensorRecord>();
  if (!(saved instanceof Dict)) throw noWeights(file, `${kindOf(saved)}`);
  for (const [key, value] of saved.entries()) {
    if (typeof key !== 'string') continue;
    if (value instanceof PickledTensor) records.set(key, toRecord(key, value));
    else ignored.push(key);
  }
  if (records.size === 0) throw noWeights(file, describe(namesIn(saved)));
  return records;
}

function noWeights(file: string, what: string): CheckpointError {
  return new CheckpointError(
    `${file} holds no weights where they are expected, but ${what}. ` +
      'Save the weights as a flat dict of tensors: torch.save({"model": model.state_dict()}, ...).',
  );
}

function describe(names: readonly string[]): string {
  if (names.length === 0) return 'an empty dict';
  const shown = names.slice(0, 5).map(quoteName).join(', ');
  return `a dict of ${shown}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
}

function toRecord(name: string, tensor: PickledTensor): TensorRecord {
  const { dtype, shape, strides } = tensor;
  return { name, dtype, shape, strides, load: () => load(tensor) };
}

/** Reads only the tensor's part of its storage. */
function load({ storage, dtype, byteOffset, shape, strides }: PickledTensor): Tensor {
  const count = extent(shape, strides);
  const bytes = aligned(storage.read(byteOffset, count * BYTES[dtype]));
  return new Tensor(toFloat32(dtype, bytes, count), shape, strides, 0, dtype);
}
