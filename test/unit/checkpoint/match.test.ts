import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatKeyReport, matchKeys, openCheckpoint } from '../../../runtime/checkpoint';

type Shapes = Record<string, number[]>;

interface Config {
  depth?: number;
  dim?: number;
  state?: number;
  conv?: number;
  rank?: number;
  type?: 'none' | 'v1' | 'v2';
  rms?: boolean;
  cls?: 0 | 1 | 2;
  grid?: number;
  patch?: number;
  classes?: number;
  rope?: boolean;
  gamma?: boolean;
  prefix?: string;
}

/** Names and shapes as in the original VisionMamba. */
function vim(c: Config = {}): Shapes {
  const { depth = 24, dim = 192, state = 16, conv = 4, patch = 16, classes = 1000, grid = 14, cls = 1 } = c;
  const inner = 2 * dim;
  const rank = c.rank ?? Math.ceil(dim / 16);
  const out: Shapes = { 'patch_embed.proj.weight': [dim, 3, patch, patch], 'patch_embed.proj.bias': [dim] };
  out['pos_embed'] = [1, grid * grid + cls, dim];
  if (cls === 1) out['cls_token'] = [1, 1, dim];
  if (cls === 2) Object.assign(out, { cls_token_head: [1, 1, dim], cls_token_tail: [1, 1, dim] });
  if (c.rope)
    Object.assign(out, { 'rope.freqs_cos': [grid * grid, dim], 'rope.freqs_sin': [grid * grid, dim] });
  const type = c.type ?? 'v2';
  for (let i = 0; i < depth; i++) {
    const at = `layers.${i}.`;
    for (const b of type === 'v2' ? ['', '_b'] : [''])
      Object.assign(out, {
        [`${at}mixer.A${b}_log`]: [inner, state],
        [`${at}mixer.D${b}`]: [inner],
        [`${at}mixer.conv1d${b}.weight`]: [inner, 1, conv],
        [`${at}mixer.conv1d${b}.bias`]: [inner],
        [`${at}mixer.x_proj${b}.weight`]: [rank + 2 * state, inner],
        [`${at}mixer.dt_proj${b}.weight`]: [inner, rank],
        [`${at}mixer.dt_proj${b}.bias`]: [inner],
      });
    if (type === 'v1') out[`${at}mixer.A_b_log`] = [inner, state];
    if (c.gamma) out[`${at}mixer.gamma`] = [dim];
    out[`${at}mixer.in_proj.weight`] = [2 * inner, dim];
    out[`${at}mixer.out_proj.weight`] = [dim, inner];
    out[`${at}norm.weight`] = [dim];
    if (c.rms === false) out[`${at}norm.bias`] = [dim];
  }
  out['norm_f.weight'] = [dim];
  if (c.rms === false) out['norm_f.bias'] = [dim];
  Object.assign(out, { 'head.weight': [classes, dim], 'head.bias': [classes] });
  return Object.fromEntries(Object.entries(out).map(([name, shape]) => [(c.prefix ?? '') + name, shape]));
}

function compare(model: Shapes, checkpoint: Shapes, optional: RegExp = /^$/) {
  const expected = Object.entries(model).map(([name, shape]) => ({
    name,
    shape,
    optional: optional.test(name),
  }));
  const found = new Map(Object.entries(checkpoint).map(([name, shape]) => [name, { shape }]));
  const report = matchKeys(expected, found);
  const text = formatKeyReport(report);
  return { report, text, headline: text.split('\n', 1)[0] };
}

test('the same keys fit', () => {
  const { report, text } = compare(vim(), vim());
  expect(report).toMatchObject({ fits: true, hints: [], matched: report.expectedCount });
  expect(text).toBe(`All ${report.matched} tensors that the model needs were found.`);
});

describe('the headline explains the difference', () => {
  test.each<[string, Config, Config, string]>([
    [
      'bimamba_type none',
      { type: 'v1' },
      { type: 'none' },
      'The checkpoint does not fit the model: 24 keys of `layers.*.mixer.A_b_log` are missing, so it was probably ' +
        'trained with bimamba_type "none". Set bimamba_type to "none" or choose another checkpoint.',
    ],
    ['bimamba_type v2 in the file', { type: 'none' }, {}, 'trained with bimamba_type "v2"'],
    ['bimamba_type v1 in the file', {}, { type: 'v1' }, 'trained with bimamba_type "v1"'],
    [
      'num_classes',
      {},
      { classes: 10 },
      'The checkpoint does not fit the model: `head.weight` has shape [10, 192] where the model has [1000, 192], so it ' +
        'was probably trained with num_classes 10. Set num_classes to 10 or choose another checkpoint.',
    ],
    [
      'depth',
      { depth: 24 },
      { depth: 12 },
      '12 keys of `layers.*.mixer.A_log` are missing, so it was probably trained with depth 12.',
    ],
    [
      'embed_dim',
      {},
      { dim: 384 },
      'shape [1536, 384] where the model has [768, 192], so it was probably trained with embed_dim 384. Set embed_dim to 384 or',
    ],
    ['rms_norm', {}, { rms: false }, 'trained with rms_norm false'],
    [
      'rms_norm the other way',
      { rms: false },
      {},
      '24 keys of `layers.*.norm.bias` are missing, so it was probably trained with rms_norm true',
    ],
    [
      'no class token',
      {},
      { cls: 0 },
      '`cls_token` is missing, so it was probably trained with if_cls_token false',
    ],
    ['two class tokens', {}, { cls: 2 }, 'trained with use_double_cls_token true'],
    [
      'rope',
      {},
      { rope: true },
      '`rope.freqs_cos` has no place in the model, so it was probably trained with if_rope true',
    ],
    ['gamma', {}, { gamma: true }, 'trained with init_layer_scale a number'],
    ['no gamma', { gamma: true }, {}, 'are missing, so it was probably trained with init_layer_scale null'],
    [
      'd_state',
      {},
      { state: 8 },
      'shape [384, 8] where the model has [384, 16], so it was probably trained with d_state 8',
    ],
    ['d_conv', {}, { conv: 3 }, 'trained with d_conv 3'],
    ['dt_rank', {}, { rank: 6 }, 'trained with dt_rank 6'],
    ['patch_size', {}, { patch: 8 }, 'trained with patch_size 8'],
    [
      'image size',
      {},
      { grid: 24 },
      '`pos_embed` has shape [1, 577, 192] where the model has [1, 197, 192], so it was probably trained with ' +
        '24 x 24 patches (img_size 384 at stride 16, or a smaller stride). Set img_size, patch_size and stride to match or choose',
    ],
    [
      'two settings',
      {},
      { classes: 10, type: 'none' },
      'trained with bimamba_type "none" and num_classes 10. Set bimamba_type to "none" and num_classes to 10, or',
    ],
  ])('%s', (_, model, checkpoint, expected) => {
    const { report, headline } = compare(vim(model), vim(checkpoint));
    expect(report.fits).toBe(false);
    expect(headline).toContain(expected);
  });

  test('only the settings that differ are named', () => {
    expect(compare(vim(), vim({ dim: 384 })).report.hints.map((h) => h.setting)).toEqual(['embed_dim']);
    expect(compare(vim(), vim({ cls: 0 })).report.hints.map((h) => h.setting)).toEqual(['if_cls_token']);
    const { report } = compare(vim(), vim({ state: 8, conv: 3, classes: 10, grid: 7 }));
    expect(report.hints.map((h) => h.setting)).toEqual(['d_state', 'd_conv', 'patches', 'num_classes']);
  });

  test('a language model', async () => {
    const file = join(__dirname, '../../fixtures/golden/mamba_lm_small.weights.safetensors');
    const { entries } = await openCheckpoint(file);
    const expected = Object.entries(vim()).map(([name, shape]) => ({ name, shape }));
    expect(formatKeyReport(matchKeys(expected, entries)).split('\n', 1)[0]).toBe(
      'The checkpoint does not fit the model: it is of a language model, the model is a vision model. Choose another checkpoint.',
    );
  });

  test('weights of the original', async () => {
    const golden = (name: string) =>
      openCheckpoint(join(__dirname, `../../fixtures/golden/vim_${name}.weights.safetensors`));
    const model = [...(await golden('v1_doublecls')).entries.values()];
    const settings = async (name: string) =>
      matchKeys(model, (await golden(name)).entries).hints.map((h) => `${h.setting} ${h.checkpoint}`);
    expect(await settings('v1_doublecls')).toEqual([]);
    expect(await settings('v2_midcls_div2')).toEqual(['bimamba_type v2', 'use_double_cls_token false']);
    expect(await settings('none_unidirectional_lastpool_layerscale')).toEqual([
      'bimamba_type none',
      'if_cls_token false',
      'init_layer_scale a number',
    ]);
    expect(await settings('v2_stride4_overlap')).toEqual([
      'bimamba_type v2',
      'use_double_cls_token false',
      'patches 49',
    ]);
  });

  test('a prefix', () => {
    expect(compare(vim(), vim({ prefix: 'backbone.' })).headline).toMatch(
      /: (\d+) of the model's \1 names are there after the prefix "backbone\."\. Save it without the prefix/,
    );
  });

  test('nothing in common', () => {
    expect(compare(vim(), { 'blocks.0.attn.qkv.weight': [9, 3] }).headline).toBe(
      'The checkpoint does not fit the model: none of its 1 keys (such as `blocks.0.attn.qkv.weight`) is one of the ' +
        "model's (such as `patch_embed.proj.weight`). Choose another checkpoint or model.",
    );
    expect(compare({ a: [1], b: [1], c: [2] }, { a: [1], c: [3] }).headline).toBe(
      'The checkpoint does not fit the model: `c` has shape [3] where the model has [2] and `b` is missing. ' +
        'Choose the checkpoint of this model, or the settings that it was trained with.',
    );
  });
});

describe('what fits', () => {
  test('keys of parts that the model does not have are only told', () => {
    const { report, headline } = compare(vim(), { ...vim(), 'decoder.weight': [3] });
    expect(report.fits).toBe(true);
    expect(headline).toMatch(/were found\. 1 more in the checkpoint is not used\.$/);
  });

  test('optional keys may be missing, but not misshaped', () => {
    const model = vim({ rope: true });
    expect(compare(model, vim(), /^rope/).report).toMatchObject({ fits: true, missing: [], hints: [] });
    expect(compare(model, { ...vim(), 'rope.freqs_cos': [4, 4] }, /^rope/).report.fits).toBe(false);
  });
});

test('the table groups by layer, with aligned columns', () => {
  const small = { depth: 2, classes: 10 };
  const { text } = compare(vim(small), vim({ ...small, classes: 7, type: 'v1' }));
  const lines = text.split('\n');
  expect(lines.slice(0, 3)).toEqual([
    expect.stringContaining('bimamba_type "v1" and num_classes 7'),
    'Also: num_classes is 7 in the checkpoint and 10 in the model.',
    '',
  ]);
  expect(lines.slice(3, 7)).toEqual([
    'module                    problem  keys        expected shape  found shape',
    'head                      shape    weight      [10, 192]       [7, 192]',
    'head                      shape    bias        [10]            [7]',
    'layers.*.mixer            missing  D_b x 2     [384]           -',
  ]);
  expect(formatKeyReport(compare(vim(small), {}).report, { maxRows: 3 })).toMatch(
    /\.\.\. and \d+ more rows are left out\.$/,
  );
});
