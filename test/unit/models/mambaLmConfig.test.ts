import { describe, expect, it } from 'vitest';
import { readModelSpec } from '../../../runtime/engine/modelSpec';
import { ConfigError } from '../../../runtime/models/arguments';
import { canonicalName, isLanguageModel, mambaLmConfig } from '../../../runtime/models/mambaLmConfig';
import { fixture } from '../fixtures';
import { loaded, readJson, SMALL } from './mambaLmSamples';

const MINIMAL = { d_model: 40, n_layer: 2, vocab_size: 50 };
const HUGGING_FACE = { model_type: 'mamba', hidden_size: 40, num_hidden_layers: 2, vocab_size: 50 };

describe('arguments', () => {
  it('of mamba-minimal', () => {
    const config = mambaLmConfig(readJson(SMALL));
    expect(config).toMatchObject({ vocabSize: 56, depth: 2, normEpsilon: 1e-5, tiedHead: true });
    expect(config.mixer).toMatchObject({
      dModel: 32,
      dInner: 64,
      dState: 16,
      dConv: 4,
      dtRank: 2,
      bimambaType: 'none',
    });
  });

  it('have the defaults of mamba-minimal and pad the vocabulary', () => {
    const { vocabSize, mixer } = mambaLmConfig(MINIMAL);
    expect(vocabSize).toBe(56);
    expect(mixer).toMatchObject({ dInner: 80, dState: 16, dConv: 4, dtRank: 3, bias: false, convBias: true });
    expect(mambaLmConfig({ ...MINIMAL, pad_vocab_size_multiple: 1 }).vocabSize).toBe(50);
  });

  it('of the original, which keeps those of the mixer apart', () => {
    const { mixer, tiedHead } = mambaLmConfig({
      ...MINIMAL,
      ssm_cfg: { layer: 'Mamba1', d_state: 8, expand: 3, dt_rank: 'auto', conv_bias: false },
      rms_norm: true,
      residual_in_fp32: true,
      fused_add_norm: true,
      tie_embeddings: false,
    });
    expect(mixer).toMatchObject({ dState: 8, dInner: 120, dtRank: 3, convBias: false });
    expect(tiedHead).toBe(false);
  });

  it('of transformers, by either name and without what does not matter', () => {
    const config = mambaLmConfig(readJson(fixture('lm/untied/config.json')));
    expect(config).toMatchObject({ vocabSize: 30, depth: 3, normEpsilon: 1e-3, tiedHead: false });
    expect(config.mixer).toMatchObject({
      dModel: 12,
      dInner: 36,
      dState: 4,
      dConv: 3,
      dtRank: 5,
      bias: true,
      convBias: false,
    });
    const older = {
      model_type: 'mamba',
      d_model: 40,
      n_layer: 2,
      vocab_size: 50,
      time_step_rank: 'auto',
      whatever: 1,
    };
    expect(mambaLmConfig(older)).toEqual(mambaLmConfig(HUGGING_FACE));
  });
});

describe('wrong configurations are refused in one sentence', () => {
  const only = 'the language models that run here are Mamba-1 with RMSNorm and SiLU (model type "mamba").';
  it.each([
    [{ ...HUGGING_FACE, model_type: 'mamba2' }, `Model type "mamba2" is not supported; ${only}`],
    [{ ...HUGGING_FACE, model_type: 'falcon_mamba' }, `Model type "falcon_mamba" is not supported; ${only}`],
    [{ model_type: 'jamba' }, `Model type "jamba" is not supported; ${only}`],
    [{ ...HUGGING_FACE, hidden_act: 'gelu' }, `"hidden_act": "gelu" is not supported; ${only}`],
    [{ ...MINIMAL, ssm_cfg: { layer: 'Mamba2' } }, `"layer": "Mamba2" in ssm_cfg is not supported; ${only}`],
    [{ ...MINIMAL, rms_norm: false }, `"rms_norm": false is not supported; ${only}`],
    [{ ...MINIMAL, d_intermediate: 64 }, `"d_intermediate" (an MLP in each block) is not supported; ${only}`],
    [{ ...MINIMAL, attn_layer_idx: [3] }, `"attn_layer_idx" (attention layers) is not supported; ${only}`],
    [
      { model_type: 'mamba', vocab_size: 50 },
      'The configuration of this language model does not say "hidden_size" or "d_model"; add it.',
    ],
    [
      { d_model: 8, n_layer: 1 },
      'The configuration of this language model does not say "vocab_size"; add it.',
    ],
    [{ ...MINIMAL, expand: 0 }, '"expand" leaves no channels; use 2, as the original does.'],
    [{ ...MINIMAL, d_model: -1 }, "Mamba's argument d_model is -1; it takes a whole number from 1."],
    [
      { ...HUGGING_FACE, state_size: 'many' },
      'The configuration\'s argument state_size is "many"; it takes a whole number from 1.',
    ],
  ])('%j', (args, message) => {
    expect(() => mambaLmConfig(args)).toThrow(new ConfigError(message));
  });

  it('with the name that was probably meant', () => {
    expect(() => mambaLmConfig({ ...MINIMAL, d_states: 8 })).toThrow(/"d_states"; did you mean "d_state"\?/);
  });
});

describe('where a model is named', () => {
  it('knows language models by their keys', () => {
    expect([MINIMAL, HUGGING_FACE, { n_layer: 1 }].every(isLanguageModel)).toBe(true);
    expect([{}, { embed_dim: 8, depth: 2, d_state: 4 }].some(isLanguageModel)).toBe(false);
  });

  it('takes a folder, its config.json, and an object', async () => {
    const folder = fixture('lm/tied');
    for (const model of [folder, `${folder}/`, `${folder}/config.json`]) {
      const spec = await readModelSpec(model);
      expect(spec.name).toBe('tied');
      expect(spec.weights).toBe(`${folder}/model.safetensors`);
    }
    const plain = await readModelSpec(SMALL);
    expect([plain.name, plain.weights]).toEqual(['mamba_lm_small.config', undefined]);
    expect((await readModelSpec(MINIMAL)).architecture.kind).toBe('mambaLm');
    expect((await readModelSpec({})).architecture.kind).toBe('vim');
  });

  it('says when a folder holds no configuration', async () => {
    const folder = fixture('lm');
    await expect(readModelSpec(folder)).rejects.toThrow(
      `The folder ${folder} has no config.json, so it does not say which model it holds.`,
    );
  });

  it('says what "text" is for', async () => {
    await expect(loaded({ model: {}, text: 'hello' })).rejects.toThrow('"text" is for language models');
    await expect(loaded({ model: MINIMAL, text: 'hello' })).rejects.toThrow('Text needs a tokenizer.json');
  });
});

it('names tensors as mamba-minimal does', () => {
  const names = [
    'backbone.embeddings.weight',
    'backbone.embedding.weight',
    'backbone.layers.0.mixer.D',
    'lm_head.weight',
  ];
  expect(names.map(canonicalName)).toEqual([
    'embedding.weight',
    'embedding.weight',
    'layers.0.mixer.D',
    'lm_head.weight',
  ]);
});
