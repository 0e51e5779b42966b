import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openCheckpoint, writeSafetensors } from '../../../runtime/checkpoint';
import type { ScanTensors } from '../../../runtime/kernels/selectiveScan';
import { mambaLmConfig } from '../../../runtime/models/mambaLmConfig';
import { Recurrence } from '../../../runtime/models/recurrence';
import { Tensor } from '../../../runtime/tensor/tensor';
import { type Choose, chooser, likeliest, read, sampler, write } from '../../../runtime/text/generate';
import { BLOCK, RecurrentMamba } from '../../../runtime/text/recurrent';
import { fixture, readFixture } from '../fixtures';
import { withEachBuild } from '../kernels/native/builds';
import {
  distance,
  HUGGING_FACE,
  loaded,
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

/** The tokens that a model writes after a prompt. */
function generate(
  model: RecurrentMamba,
  prompt: readonly number[],
  count: number,
  ...how: Choosing
): number[] {
  for (const _ of read(model, prompt));
  return [...write(model, count, ...how)].map(({ id }) => id);
}
type Choosing = [choose?: Choose, ends?: ReadonlySet<number>];

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
    for (const token of sequences[0]) model.read(token);
    const scans = execution.program.ops.filter((op) => op.kind.name === 'selective_scan');
    expect(scans).toHaveLength(model.states.length);
    scans.forEach((op, i) => {
      const scan = new Recurrence(execution.tensors(op.inputs) as unknown as ScanTensors);
      scan.seek(scan.length - 1);
      const { h } = model.states[i];
      expect(distance(h, scan.h.data.subarray(0, h.length), 1e-5), `layer ${i}`).toBeLessThan(1);
    });
  });

  it('ends with the last inputs of the convolution in every layer', async () => {
    const { execution, model, sequences } = await both(CASES[name]);
    for (const token of sequences[0]) model.read(token);
    const convolutions = execution.program.ops.filter((op) => op.kind.name === 'causal_conv1d');
    expect(convolutions).toHaveLength(model.states.length);
    convolutions.forEach((op, i) => {
      const { x, weight } = execution.tensors(op.inputs);
      const [, channels, length] = x.shape;
      const taps = weight.shape[2];
      const last = Float32Array.from({ length: channels * taps }, (_, at) =>
        x.at(0, Math.floor(at / taps), length - taps + (at % taps)),
      );
      expect(distance(model.states[i].conv, last, 1e-5), `layer ${i}`).toBeLessThan(1);
    });
  });

  it('writes on the same after a reset', async () => {
    const { model, sequences } = await both(CASES[name]);
    const written = generate(model, sequences[0], 6);
    expect(generate(model, sequences[0], 6)).toEqual(written);
    expect(generate(model, [...sequences[0], ...written.slice(0, 3)], 3)).toEqual(written.slice(3));
  });
});

it('ends with the state that follows from the tensors of mamba-minimal', async () => {
  const { model, sequences } = await both(CASES['small']);
  const golden = await readFixture('golden/mamba_lm_small.golden.safetensors');
  for (const token of sequences[0]) model.read(token);
  model.states.forEach(({ h }, i) => {
    const [u, delta, A, B] = ['u', 'delta', 'A', 'B'].map((role) => golden[`scan.${i}.${role}`]);
    const [, length, channels] = u.shape;
    const states = A.shape[1];
    // h_t = exp(delta_t A) h_(t-1) + delta_t B_t u_t, for the first sequence
    const expected = new Float32Array(channels * states);
    for (let t = 0; t < length; t++) {
      for (let at = 0; at < expected.length; at++) {
        const [d, n] = [Math.floor(at / states), at % states];
        const step = delta.data[t * channels + d];
        const written = step * B.data[t * states + n] * u.data[t * channels + d];
        expected[at] = Math.exp(step * A.data[at]) * expected[at] + written;
      }
    }
    expect(distance(h, expected), `layer ${i}`).toBeLessThan(1);
  });
});

describe('a random model writes what the parallel form, run anew for each token, finds likeliest', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scanpoint-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const MINIMAL = { d_model: 12, n_layer: 2, vocab_size: 40, d_state: 5 };
  const HF = { model_type: 'mamba', hidden_size: 12, num_hidden_layers: 2, vocab_size: 40, state_size: 5 };
  const biased = { use_bias: true, use_conv_bias: false, conv_kernel: 3 };

  it.each([
    ['mamba-minimal, tied', MINIMAL, 'embedding'],
    ['mamba-minimal, untied', { ...MINIMAL, tie_embeddings: false, bias: true, d_conv: 3 }, 'embedding'],
    ['transformers, tied', { ...HF, tie_word_embeddings: true }, 'embeddings'],
    ['transformers, untied', { ...HF, ...biased, tie_word_embeddings: false }, 'embeddings'],
  ])('%s', async (name, config, embedding) => {
    const checkpoint = join(folder, `${name}.safetensors`);
    await saveRandom(config, embedding, checkpoint);
    const { execution } = await ran({ model: config, checkpoint });
    const model = recurrent(execution, mambaLmConfig(config));
    const tokens = [3, 17, 0, 25, 9];
    const written = generate(model, tokens, 10);
    expect(new Set(written).size).toBeGreaterThan(1);
    for (const [n, token] of written.entries()) {
      expect(await nextOf(config, checkpoint, tokens), `token ${n}`).toBe(token);
      tokens.push(token);
    }
  });

  /** Random weights under the names of the original or of transformers. */
  async function saveRandom(config: Record<string, unknown>, embedding: string, path: string): Promise<void> {
    const { state } = await loaded({ model: config });
    const named = state.program.parameters.map(({ name, value }) => {
      const weights = state.execution.tensor(value);
      // Mixers that say much, so that a tied head does not just name the last token again.
      const scale = name.endsWith('out_proj.weight') ? 20 : 1;
      const data = Float32Array.from(weights.toArray(), (x) => scale * x);
      const key = name.replace(/^embedding\./, `${embedding}.`);
      return [name === 'lm_head.weight' ? name : `backbone.${key}`, new Tensor(data, weights.shape)] as const;
    });
    writeFileSync(path, writeSafetensors(named));
  }

  async function nextOf(
    model: Record<string, unknown>,
    checkpoint: string,
    tokens: readonly number[],
  ): Promise<number> {
    const input = join(folder, 'tokens.json');
    writeFileSync(input, JSON.stringify(tokens));
    const { logits } = await ran({ model, checkpoint, input });
    return likeliest(logits.toArray().subarray(-logits.shape[2]));
  }
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

  it('draws among all without a limit, and takes the likeliest when nothing is said', () => {
    const drawn = Array.from({ length: 300 }, chooser({ temperature: 4, seed: 2 }).bind(null, scores));
    expect(new Set(drawn)).toEqual(new Set([0, 1, 2, 3, 4]));
    expect(chooser({ seed: 2 })).toBe(likeliest);
    const among = Array.from({ length: 100 }, chooser({ topK: 2 }).bind(null, scores));
    expect(new Set(among)).toEqual(new Set([1, 3]));
  });

  it('refuses a temperature of 0', () => {
    expect(() => sampler(0, 5, 1)).toThrow('The temperature must be above 0.');
  });
});

describe('a text of more than one block', () => {
  const config = mambaLmConfig({ d_model: 12, n_layer: 2, vocab_size: 40, d_state: 5, bias: true });
  const tokens = Array.from({ length: 2 * BLOCK + 5 }, (_, t) => (t * 7) % 40);

  async function weights() {
    const { state } = await loaded({
      model: { d_model: 12, n_layer: 2, vocab_size: 40, d_state: 5, bias: true },
    });
    const { program, execution } = state;
    return new Map(program.parameters.map((p) => [p.name, execution.tensor(p.value).toArray()]));
  }

  function scoresOf(model: RecurrentMamba): Float32Array {
    expect([...read(model, tokens)]).toEqual([BLOCK, 2 * BLOCK, 2 * BLOCK + 5]);
    return model.scores();
  }

  it('is read as token by token', async () => {
    const values = await weights();
    const [blocks, single] = [0, 1].map(() => new RecurrentMamba(config, (name) => values.get(name)!));
    const scores = scoresOf(blocks);
    for (const token of tokens) single.read(token);
    expect(distance(scores, single.scores(), 1e-5)).toBeLessThan(1);
    expect(distance(blocks.step(3), single.step(3), 1e-5)).toBeLessThan(1);
    blocks.states.forEach(({ conv, h }, i) => {
      expect(distance(h, single.states[i].h, 1e-5), `layer ${i}`).toBeLessThan(1);
      expect(distance(conv, single.states[i].conv, 1e-5), `layer ${i}`).toBeLessThan(1);
    });
  });

  it('gives with SIMD kernels what it gives without', async () => {
    const values = await weights();
    const plain = new RecurrentMamba(config, (name) => values.get(name)!);
    const expected = [scoresOf(plain).slice(), plain.step(3).slice()];
    withEachBuild(({ memory }) => {
      const placed = (name: string) => {
        const array = memory.allocate(values.get(name)!.length);
        array.set(values.get(name)!);
        return array;
      };
      const simd = new RecurrentMamba(config, placed);
      for (const [i, scores] of [() => scoresOf(simd), () => simd.step(3)].entries())
        expect(distance(scores(), expected[i], 1e-5)).toBeLessThan(1);
    });
  });
});

it('stops at the end token, and refuses what it cannot read', async () => {
  const { model, sequences } = await both(CASES['tied']);
  const written = generate(model, sequences[0], 12);
  const end = written[4];
  expect(generate(model, sequences[0], 12, likeliest, new Set([end]))).toEqual(
    written.slice(0, written.indexOf(end) + 1),
  );
  expect(() => generate(model, [], 1)).toThrow('Generation needs at least one token to start from.');
  expect(() => model.step(64)).toThrow('Token 64 is not one of the 64 of the vocabulary.');
});

it('gives the probability of each token', async () => {
  const { model, logits, sequences } = await both(CASES['tied']);
  for (const _ of read(model, sequences[0]));
  const [{ id, probability }] = write(model, 1);
  const scores = Array.from({ length: 64 }, (_, k) => logits.at(0, sequences[0].length - 1, k));
  const sum = scores.reduce((s, x) => s + Math.exp(x), 0);
  expect(probability).toBeCloseTo(Math.exp(scores[id]) / sum, 6);
});

it('says when the scores name no token', async () => {
  const { model, sequences } = await both(CASES['tied']);
  for (const _ of read(model, sequences[0]));
  model.states[1].h[3] = Number.NaN;
  const writing = write(model, 5);
  expect(writing.next().done).toBe(false);
  expect(() => writing.next()).toThrow('The scores of new token 2 hold NaN or Inf, so none can be chosen.');
});
