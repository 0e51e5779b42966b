/** Vim's constructor arguments, by their original names, turned into the configuration that the model reads. */

import { closest } from '../../src/protocol/spelling';
import { Arguments, ConfigError } from './arguments';
import type { MixerConfig } from './mixer';

export interface VimConfig {
  imgSize: number;
  patchSize: number;
  stride: number;
  depth: number;
  embedDim: number;
  channels: number;
  numClasses: number;
  rmsNorm: boolean;
  normEpsilon: number;
  /** Class token, and where it stands in the sequence. */
  clsToken: 'none' | 'head' | 'middle' | 'double';
  absPosEmbed: boolean;
  rope: boolean;
  ropeResidual: boolean;
  /** Side of the patch grid that the rotary angles were made for. */
  pretrainedGrid: number;
  finalPoolType: 'none' | 'mean' | 'max' | 'all';
  /** if_bidirectional: pairs of layers that see the sequence in opposite order. */
  bidirectional: boolean;
  flipSequence: boolean;
  mixer: MixerConfig;
}

/** Arguments of the original constructor that only matter for training or for placing tensors. */
const WITHOUT_EFFECT = [
  'drop_rate',
  'drop_path_rate',
  'residual_in_fp32',
  'fused_add_norm',
  'initializer_cfg',
  'ft_seq_len',
  'device',
  'dtype',
  'pretrained',
];

/** The same for `ssm_cfg`, which goes to the mixer. */
const MIXER_WITHOUT_EFFECT = [
  'dt_min',
  'dt_max',
  'dt_init',
  'dt_scale',
  'dt_init_floor',
  'use_fast_path',
  'layer_idx',
  'device',
  'dtype',
];

/** Constructor arguments (`VisionMamba.__init__`) to a configuration. Throws a `ConfigError`. */
export function vimConfig(args: Record<string, unknown>): VimConfig {
  const a = new Arguments('VisionMamba', args);
  const embedDim = a.size('embed_dim', 192);
  const patchSize = a.size('patch_size', 16);
  const config: VimConfig = {
    imgSize: a.size('img_size', 224),
    patchSize,
    stride: a.size('stride', 16),
    depth: a.size('depth', 24),
    embedDim,
    channels: a.size('channels', 3),
    numClasses: a.size('num_classes', 1000, 0),
    rmsNorm: a.flag('rms_norm', true),
    normEpsilon: a.number('norm_epsilon', 1e-5),
    clsToken: clsToken(a),
    absPosEmbed: a.flag('if_abs_pos_embed', true),
    rope: a.flag('if_rope', false),
    ropeResidual: a.flag('if_rope_residual', false),
    pretrainedGrid: a.size('pt_hw_seq_len', 14),
    finalPoolType: a.choice('final_pool_type', ['none', 'mean', 'max', 'all'], 'none'),
    bidirectional: a.flag('if_bidirectional', false),
    flipSequence: flipSequence(a),
    mixer: mixerConfig(a, embedDim),
  };
  a.ignore(...WITHOUT_EFFECT);
  a.finish();
  checkSizes(config);
  return config;
}

function clsToken(a: Arguments): VimConfig['clsToken'] {
  const present = a.flag('if_cls_token', true);
  const double = a.flag('use_double_cls_token', false);
  const middle = a.flag('use_middle_cls_token', true);
  if (!present) return 'none';
  if (double) return 'double';
  return middle ? 'middle' : 'head';
}

function flipSequence(a: Arguments): boolean {
  const ratio = a.number('flip_img_sequences_ratio', -1);
  if (ratio > 0 && ratio < 1) {
    throw new ConfigError(
      `flip_img_sequences_ratio ${ratio} flips at random, so two runs would differ; set it to 0 (never) or 1 (always).`,
    );
  }
  return ratio >= 1;
}

function mixerConfig(a: Arguments, dModel: number): MixerConfig {
  const dState = a.size('d_state', 16);
  const v1 = a.flag('if_bimamba', false);
  const bimambaType = a.choice('bimamba_type', ['none', 'v1', 'v2'], 'v2');
  const divideOut = a.flag('if_divide_out', true);
  const initLayerScale = a.optionalNumber('init_layer_scale');
  const s = a.nested('ssm_cfg');
  const dtRank = s.autoSize('dt_rank', Math.ceil(dModel / 16));
  const config: MixerConfig = {
    dModel,
    dInner: Math.floor(s.number('expand', 2) * dModel),
    dState: s.size('d_state', dState),
    dConv: s.size('d_conv', 4),
    dtRank,
    bias: s.flag('bias', false),
    convBias: s.flag('conv_bias', true),
    bimambaType: v1 ? 'v1' : bimambaType,
    divideOut,
    initLayerScale,
  };
  s.ignore(...MIXER_WITHOUT_EFFECT);
  s.finish();
  return config;
}

function checkSizes(c: VimConfig): void {
  if (c.patchSize > c.imgSize)
    throw new ConfigError(
      `patch_size ${c.patchSize} is larger than img_size ${c.imgSize}; make the patch smaller.`,
    );
  if (c.mixer.dInner < 1)
    throw new ConfigError('expand in ssm_cfg leaves no channels; use 2, as the original does.');
  if (c.rope && c.embedDim % 4 !== 0)
    throw new ConfigError(`if_rope needs an embed_dim that 4 divides, not ${c.embedDim}.`);
}

const SIZES: Record<string, Record<string, unknown>> = {
  tiny: { embed_dim: 192, depth: 24 },
  small: { embed_dim: 384, depth: 24 },
  base: { embed_dim: 768, depth: 24 },
};

/** Parts of a published name after `vim_<size>_`, and what each says. */
const PARTS: [pattern: RegExp, args: (match: RegExpExecArray) => Record<string, unknown>][] = [
  [/^patch(\d+)/, (m) => ({ patch_size: Number(m[1]), stride: Number(m[1]) })],
  [/^stride(\d+)/, (m) => ({ stride: Number(m[1]) })],
  [/^bimamba(v1|v2)/, (m) => ({ bimamba_type: m[1] })],
  [/^final_pool_(mean|max|all|none)/, (m) => ({ final_pool_type: m[1] })],
  [/^abs_pos_embed/, () => ({ if_abs_pos_embed: true })],
  [/^rope_also_residual/, () => ({ if_rope: true, if_rope_residual: true })],
  [/^rope/, () => ({ if_rope: true })],
  [/^with_(?:midclstok|middle_cls_token)/, () => ({ if_cls_token: true, use_middle_cls_token: true })],
  [/^with_(?:double_cls_token|doubleclstok)/, () => ({ if_cls_token: true, use_double_cls_token: true })],
  [/^with_cls_token/, () => ({ if_cls_token: true, use_middle_cls_token: false })],
  [/^div2/, () => ({ if_divide_out: true })],
  [/^(224|384|512|32|64|96|128|192|256)(?=_|$)/, (m) => ({ img_size: Number(m[1]) })],
];

/**
 * Constructor arguments that a published name stands for, e.g.
 * `vim_tiny_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2`. What a name does not say
 * is off. Throws a `ConfigError` that names the part that is not understood.
 */
export function parseVimName(name: string): Record<string, unknown> {
  const head = /^vim_(tiny|small|base)(?:_|$)/.exec(name);
  if (!head) {
    throw new ConfigError(
      `"${name}" is neither a file nor a published model name; names start with vim_tiny, vim_small or vim_base.`,
    );
  }
  const args: Record<string, unknown> = {
    ...SIZES[head[1]],
    rms_norm: true,
    residual_in_fp32: true,
    fused_add_norm: true,
    bimamba_type: 'none',
    if_abs_pos_embed: false,
    if_cls_token: false,
    if_divide_out: false,
    final_pool_type: 'none',
  };
  let rest = name.slice(head[0].length);
  while (rest) rest = takePart(rest, name, args);
  return args;
}

function takePart(rest: string, name: string, args: Record<string, unknown>): string {
  for (const [pattern, read] of PARTS) {
    const match = pattern.exec(rest);
    if (!match) continue;
    Object.assign(args, read(match));
    return rest.slice(match[0].length).replace(/^_/, '');
  }
  const known = [
    'patch16',
    'stride8',
    '224',
    'bimambav2',
    'final_pool_mean',
    'abs_pos_embed',
    'rope',
    'rope_also_residual',
    'with_cls_token',
    'with_midclstok',
    'div2',
  ];
  const hint = closest(rest.split('_')[0], known);
  throw new ConfigError(
    `The part "${rest}" of the model name "${name}" is not understood${hint ? `; did you mean "${hint}"?` : '.'} Known parts: ${known.join(', ')}.`,
  );
}
