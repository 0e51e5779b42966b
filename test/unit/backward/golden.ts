import { readFileSync } from 'node:fs';
import { fixture } from '../fixtures';

/** A tensor of whole numbers, which safetensors files hold as int64. */
export function readWhole(file: string, key: string): Float32Array {
  const bytes = readFileSync(fixture(file));
  const length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + length));
  const [from, to] = header[key].data_offsets as [number, number];
  const { buffer } = Uint8Array.from(bytes.subarray(8 + length + from, 8 + length + to));
  return Float32Array.from(new BigInt64Array(buffer), Number);
}

/** The largest difference in units of the largest element: many gradients are far below 1. */
export function relative(actual: Float32Array, golden: Float32Array): number {
  const largest = golden.reduce((m, x) => Math.max(m, Math.abs(x)), 0);
  return actual.reduce((m, x, i) => Math.max(m, Math.abs(x - golden[i])), 0) / (largest || 1);
}
