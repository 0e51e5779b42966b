/** Small sound files of every format that is read, and a reader that may only answer or refuse. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import {
  bytesSource,
  CheckpointError,
  InputError,
  openCheckpointSource,
  readNpy,
  writeNpy,
  writeSafetensors,
} from '../../../runtime/checkpoint';
import { decodeImage } from '../../../runtime/image/decode';
import { loadInputSource } from '../../../runtime/image/input';
import { Tensor } from '../../../runtime/tensor/tensor';
import { bytes, call, dict, floats, global, pickle, str, tensor, torchLegacy, torchZip, u32 } from './build';

const input = new Tensor(
  Float32Array.from({ length: 12 }, (_, i) => i),
  [3, 2, 2],
);
const label = new Tensor(Float32Array.of(1), [1], undefined, 0, 'int64');
const namespace = [call(global('argparse.Namespace')), dict(str('lr'), 'K\x01'), 'b'];
const state = pickle(dict(str('model'), dict(str('module.w'), tensor()), str('args'), namespace));
const frame = bytes('}\x94\x8c\x01w\x94', tensor(), 's.');

/** Names with an extension are images beside expected.json. */
export const SAMPLES: Record<string, Uint8Array> = {
  safetensors: writeSafetensors([
    ['input', input],
    ['labels', label],
  ]),
  zip: torchZip(state),
  deflated: torchZip(state, { 'data/0': floats(1, 2, 3, 4, 5, 6) }, 6),
  frames: torchZip(bytes('\x80\x04\x95', u32(frame.length), u32(0), frame)),
  legacy: torchLegacy(state),
  npy: writeNpy(input),
  ...Object.fromEntries(
    [
      'palette4.png',
      'grey1.png',
      'interlaced8.png',
      'greyalpha8.png',
      'narrow.jpg',
      'grey.jpg',
      'progressive.jpg',
    ].map((name) => [name, new Uint8Array(readFileSync(join(__dirname, '../../fixtures/image', name)))]),
  ),
};

/**
 * Reads a file in every way that fits its beginning. Gives "read" or "refused"; anything else that is thrown, or
 * more than a second of work, fails the test.
 */
export function readOrRefuse(file: Uint8Array, name: string): 'read' | 'refused' {
  const start = cpuMillis();
  const source = bytesSource(file, name);
  const ways: (() => unknown)[] = [() => loadInputSource(source, { channels: 3, imgSize: 2 })];
  if (/\./.test(name)) ways.push(() => decodeImage(source));
  else if (name === 'npy') ways.push(() => readNpy(source));
  else ways.push(() => [...openCheckpointSource(source).entries.values()].map((record) => record.load()));
  const outcomes = ways.map(outcome);
  const took = cpuMillis() - start;
  if (took > 1000) throw new Error(`${name} took ${took.toFixed(0)} ms`);
  return outcomes[1];
}

/** Processor time, since tests share the machine. */
function cpuMillis(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function outcome(read: () => unknown): 'read' | 'refused' {
  try {
    read();
    return 'read';
  } catch (error) {
    if (!(error instanceof CheckpointError || error instanceof InputError)) throw error;
    if (!/^[^\n]{20,500}[.:]/.test(error.message)) throw new Error(`not a sentence: ${error.message}`);
    return 'refused';
  }
}

/** An IDAT chunk that unpacks to much more than a small image. */
export function pngBomb(): Uint8Array {
  const png = SAMPLES['grey1.png'];
  const packed = deflateSync(new Uint8Array(50_000_000), { level: 9 });
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, packed.length);
  return bytes(png.subarray(0, 33), length, 'IDAT', packed, u32(0), '\0\0\0\0IEND', u32(0));
}
