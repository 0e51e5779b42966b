import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Loaded, type LoadRequest, load } from '../../../runtime/engine/load';
import { resultLines } from '../../../runtime/engine/result';
import { fixture, readFixture } from '../fixtures';
import { distance, manifest } from '../goldenModels';
import { readWhole, relative } from './golden';

const LM = 'golden/mamba_lm_small';
const VIM = 'vim_v2_midcls_div2';
const SMALL_VIM = {
  model: { img_size: 16, patch_size: 8, stride: 8, embed_dim: 8, depth: 1, num_classes: 4 },
};
const SMALL_LM = { model: { d_model: 8, n_layer: 1, vocab_size: 11 } };

async function ran(request: Omit<LoadRequest, 'seed'>): Promise<Loaded> {
  const loaded = await load(
    { seed: 3, ...request },
    () => undefined,
    async () => {},
  );
  loaded.state.execution.runAll();
  loaded.state.position = { event: loaded.state.program.events.length, phase: 'before' };
  return loaded;
}

const lossOf = ({ state }: Loaded) => state.execution.tensor(state.program.outputs['loss']).toArray()[0];

function gradient({ state }: Loaded, name: string): Float32Array {
  return state.execution.tensor(state.program.gradients.get(name)!).toArray();
}

/** The golden tokens with the last target behind each row, so that every target is the next token. */
function extendedTokens(): string {
  const [ids, targets] = ['input_ids', 'targets'].map((key) => [
    ...readWhole(`${LM}.golden.safetensors`, key),
  ]);
  const rows = [0, 1].map((b) => [...ids.slice(12 * b, 12 * (b + 1)), targets[12 * b + 11]]);
  expect(rows.flatMap((row) => row.slice(1))).toEqual(targets);
  const path = join(mkdtempSync(join(tmpdir(), 'scanpoint-tokens-')), 'tokens.json');
  writeFileSync(path, JSON.stringify(rows));
  return path;
}

describe('the backward pass of a language model', () => {
  const golden = { model: fixture(`${LM}.config.json`), checkpoint: fixture(`${LM}.weights.safetensors`) };

  it('starts from the next tokens, with the loss and every gradient of the original', async () => {
    const expected = await readFixture(`${LM}.golden.safetensors`);
    const loaded = await ran({ ...golden, input: extendedTokens(), backward: true });
    expect(Math.abs(lossOf(loaded) - expected['loss'].data[0])).toBeLessThan(1e-5);
    const keys = Object.keys(expected).filter((key) => key.startsWith('grad.'));
    expect([...loaded.state.program.gradients.keys()].map((key) => `grad.${key}`).sort()).toEqual(
      keys.sort(),
    );
    for (const key of keys) {
      const own = gradient(loaded, key.slice('grad.'.length));
      expect(distance(own, expected[key].data), key).toBeLessThan(1);
      expect(relative(own, expected[key].data), key).toBeLessThan(2e-5);
    }
    expect(resultLines(loaded).join('\n')).toMatch(/^Loss \d/m);
  });

  it('starts from an expression instead', async () => {
    const loaded = await ran({ ...golden, loss: 'logits[0, -1, 3]' });
    const logits = loaded.state.execution.tensor(loaded.state.program.outputs['logits']);
    expect(lossOf(loaded)).toBe(logits.at(0, logits.shape[1] - 1, 3));
    expect(gradient(loaded, 'embedding.weight').some((x) => x !== 0)).toBe(true);
  });

  it('needs two tokens', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'scanpoint-tokens-')), 'one.json');
    writeFileSync(path, '[5]');
    await expect(ran({ ...SMALL_LM, input: path, backward: true })).rejects.toThrow(
      'needs two tokens or more, since each predicts the next; or give a "loss".',
    );
  });
});

describe('the loss of Vision Mamba', () => {
  const golden = {
    model: manifest[VIM].config,
    checkpoint: fixture(`golden/${VIM}.weights.safetensors`),
    input: fixture(`golden/${VIM}.golden.safetensors`),
  };

  it('as an expression for the cross-entropy has the gradients of the original', async () => {
    const [a, b] = readWhole(`golden/${VIM}.golden.safetensors`, 'labels');
    const picked = `logits.log_softmax(-1)[0, ${a}] + logits.log_softmax(-1)[1, ${b}]`;
    const loaded = await ran({ ...golden, loss: `-(${picked}) / 2` });
    const expected = await readFixture(`golden/${VIM}.golden.safetensors`);
    expect(Math.abs(lossOf(loaded) - expected['loss'].data[0])).toBeLessThan(1e-5);
    for (const name of loaded.state.program.gradients.keys())
      expect(relative(gradient(loaded, name), expected[`grad.${name}`].data), name).toBeLessThan(2e-5);
  });

  it('beside a label is the one that counts, and says so', async () => {
    const both = await ran({ ...SMALL_VIM, label: 2, loss: 'logits[0, 1]' });
    expect(both.notes).toContain(
      'The backward pass starts from the loss logits[0, 1]; the label is only shown with the result.',
    );
    expect([...gradient(both, 'head.bias')]).toEqual([0, 1, 0, 0]);
    expect(resultLines(both)[0]).toMatch(/labelled/);
    const using = await ran({ ...SMALL_VIM, label: 2, loss: 'logits[0, label]' });
    expect(using.notes).toContain('The backward pass starts from the loss logits[0, label].');
    expect([...gradient(using, 'head.bias')]).toEqual([0, 0, 1, 0]);
  });

  it('may depend on the input too', async () => {
    const loaded = await ran({ ...SMALL_VIM, loss: 'logits[0, 0] + input[0, 0, 0].sum()' });
    const plain = await ran({ ...SMALL_VIM, loss: 'logits[0, 0]' });
    const own = gradient(plain, 'input');
    const expected = own.map((x, i) => x + (i < 16 ? 1 : 0));
    expect(relative(gradient(loaded, 'input'), expected)).toBeLessThan(1e-6);
  });

  it.each([
    ['logits[0', 'The loss "logits[0" is not understood: Column 9'],
    ['input.sum()', 'does not use logits, so the model has no gradients of it.'],
    ['', 'The loss "" is not understood: Column 1: there is no expression'],
    ['logits', 'it gives a tensor of shape [1, 4], not one number'],
  ])('%j is refused in one sentence', async (loss, words) => {
    await expect(ran({ ...SMALL_VIM, loss })).rejects.toThrow(words);
  });
});
