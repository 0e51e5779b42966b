import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Path of a file below test/fixtures. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

/** All floating-point tensors of a safetensors file, read without the product's own reader. */
export async function readFixture(
  name: string,
): Promise<Record<string, { shape: number[]; data: Float32Array }>> {
  return readTensors(fixture(name));
}

/** The same for any path. */
export async function readTensors(
  path: string,
): Promise<Record<string, { shape: number[]; data: Float32Array }>> {
  const bytes = await readFile(path);
  const length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, 8 + length).toString('utf8')) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const tensors: Record<string, { shape: number[]; data: Float32Array }> = {};
  for (const [key, entry] of Object.entries(header)) {
    if (entry.dtype !== 'F32' && entry.dtype !== 'F64') continue;
    const [from, to] = entry.data_offsets;
    const { buffer } = Uint8Array.from(bytes.subarray(8 + length + from, 8 + length + to));
    const data =
      entry.dtype === 'F32' ? new Float32Array(buffer) : Float32Array.from(new Float64Array(buffer));
    tensors[key] = { shape: entry.shape, data };
  }
  return tensors;
}
