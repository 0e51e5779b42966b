import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A copy of a float32 safetensors file with one element changed. Gives the copy's path. */
export function plant(path: string, name: string, element: number, value: number): string {
  const bytes = readFileSync(path);
  const header = Number(bytes.readBigUInt64LE(0));
  const entries = JSON.parse(bytes.toString('utf8', 8, 8 + header)) as Record<
    string,
    { data_offsets: [number, number] }
  >;
  bytes.writeFloatLE(value, 8 + header + entries[name].data_offsets[0] + 4 * element);
  const copy = join(mkdtempSync(join(tmpdir(), 'scanpoint-planted-')), 'planted.safetensors');
  writeFileSync(copy, bytes);
  return copy;
}
