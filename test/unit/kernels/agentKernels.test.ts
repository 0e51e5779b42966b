import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { summarize } from '../../../runtime/kernels/summary';
import { type WindowArguments, windowOf } from '../../../runtime/kernels/window';
import { Tensor } from '../../../runtime/tensor/tensor';
import type { Summary } from '../../../src/protocol/summary';

interface Case {
  name: string;
  /** Little-endian float32, base64. */
  data: string;
  shape: number[];
  strides: number[];
  offset: number;
  summary: Summary;
  arguments: WindowArguments;
  window: object;
}

const path = join(__dirname, '../../agent/fixtures/values_kernels.json');
const cases = JSON.parse(readFileSync(path, 'utf8')) as Case[];

// The agent's own summaries and windows are tested against the same fixture.
test.each(cases)('the fixture of the agent holds what the kernels give: $name', (c) => {
  const data = new Float32Array(new Uint8Array(Buffer.from(c.data, 'base64')).buffer);
  const tensor = new Tensor(data, c.shape, c.strides, c.offset, 'float32', []);
  const { mean, std, ...exact } = summarize(tensor);
  expect({ ...exact }).toEqual({ ...c.summary, mean: undefined, std: undefined });
  expect(mean ?? 0).toBeCloseTo(c.summary.mean ?? 0, 10);
  expect(std ?? 0).toBeCloseTo(c.summary.std ?? 0, 10);
  expect(windowOf(tensor, c.arguments)).toMatchObject(c.window);
});
