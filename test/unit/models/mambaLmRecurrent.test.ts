import { describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../../runtime/checkpoint';
import type { ScanTensors } from '../../../runtime/kernels/selectiveScan';
import { mambaLmConfig } from '../../../runtime/models/mambaLmConfig';
import { Recurrence } from '../../../runtime/models/recurrence';
import { type Choose, generate, likeliest, sampler } from '../../../runtime/text/generate';
import { fixture } from '../fixtures';
import {
  distance,
  HUGGING_FACE,
  ran,
  readJson,
  recurrent,
  SMALL,
  smallFile,
  tokensOf,
} from './mambaLmSamples';

const CASES: Record<string, { config: string; checkpoint?: string; input: string }> = {
  small: {
    config: SMALL,
    checkpoint: smallFile('weights.safetensors'),
    input: smallFile('golden.safetensors'),
  },
};
for (const name of HUGGING_FACE) {
  const folder = fixture(`lm/${name}`);
  CASES[name] = { config: `${folder}/config.json`, input: `${folder}/expected.safetensors` };
}

async function both({ config, checkpoint, input }: (typeof CASES)[string]) {
  const { execution, logits } = await ran({ model: config, checkpoint, input });
  const model = recurrent(execution, mambaLmConfig(readJson(config)));
  return { execution, logits, model, sequences: await tokensOf(input) };
}

describe.each(Object.keys(CASES))('%s, one token at a time', (name) => {
  it('equals the parallel form at every position', async () => {
    const { logits, model, sequences } = await both(CASES[name]);
    sequences.forEach((tokens, b) => {
      model.reset();
      tokens.forEach((token, t) => {
        const parallel = Float32Array.from({ length: logits.shape[2] }, (_, k) => logits.at(b, t, k));
        expect(distance(model.step(token), parallel, 1e-5), `sequence ${b}, position ${t}`).toBeLessThan(1);
      });
    });
  });

  it('ends with the state of the scan in every layer', async () => {
    const { execution, model, sequences } = await both(CASES[name]);
    for (const token of sequences[0]) model.step(token);
    const scans = execution.program.ops.filter((op) => op.kind.name === 'selective_scan');
    scans.forEach((op, i) => {
      const scan = new Recurrence(execution.tensors(op.inputs) as unknown as ScanTensors);
      scan.seek(scan.length - 1);
      const { h } = model.states[i];
      expect(distance(h, scan.h.data.subarray(0, h.length), 1e-5), `layer ${i}`).toBeLessThan(1);
    });
  });

  it('writes on the same after a reset', async () => {
    const { model, sequences } = await both(CASES[name]);
    const written = generate(model, sequences[0], 6);
    expect(generate(model, sequences[0], 6)).toEqual(written);
    expect(generate(model, [...sequences[0], ...written.slice(0, 3)], 3)).toEqual(written.slice(3));
  });
});

it.each(HUGGING_FACE)('writes the tokens that transformers writes, %s', async (name) => {
  const { model, sequences } = await both(CASES[name]);
  const { entries } = await openCheckpoint(fixture(`lm/${name}/expected.safetensors`));
  const expected = [...entries.get('generated')!.load().toArray()];
  expect(generate(model, sequences[0], expected.length)).toEqual(expected);
});

describe('choosing', () => {
  const scores = Float32Array.of(0, 3, -1, 3, 2);

  it('takes the first of the likeliest', () => {
    expect(likeliest(scores)).toBe(1);
  });

  it('draws among the likeliest, the same for the same seed', () => {
    const draw = (choose: Choose) => Array.from({ length: 300 }, () => choose(scores));
    const drawn = draw(sampler(1, 3, 7));
    expect(draw(sampler(1, 3, 7))).toEqual(drawn);
    expect(new Set(drawn)).toEqual(new Set([1, 3, 4]));
    const share = drawn.filter((k) => k === 4).length / drawn.length;
    expect(Math.abs(share - Math.exp(2) / (2 * Math.exp(3) + Math.exp(2)))).toBeLessThan(0.08);
  });

  it('nearly always takes the likeliest when it is cold', () => {
    const cold = sampler(0.01, 5, 1);
    expect(Array.from({ length: 50 }, () => cold(Float32Array.of(0, 1, 0.5)))).toEqual(Array(50).fill(1));
  });

  it('refuses a temperature of 0', () => {
    expect(() => sampler(0, 5, 1)).toThrow('The temperature must be above 0.');
  });
});

it('stops at the end token, and refuses what it cannot read', async () => {
  const { model, sequences } = await both(CASES['tied']);
  const written = generate(model, sequences[0], 12);
  const end = written[4];
  expect(generate(model, sequences[0], 12, likeliest, end)).toEqual(
    written.slice(0, written.indexOf(end) + 1),
  );
  expect(() => generate(model, [], 1)).toThrow('Generation needs at least one token to start from.');
  expect(() => model.step(64)).toThrow('Token 64 is not one of the 64 of the vocabulary.');
});
