/** Reads a model's settings off the names and shapes of its weights (Vim and Mamba language models). */

export type Setting = string | number | boolean;
type Shape = readonly number[];

/** Shapes by folded name: `layers.7.mixer.D` counts as `layers.*.mixer.D`, the first one stands for all. */
export class FoldedShapes {
  private readonly shapes = new Map<string, Shape>();
  private layers = 0;

  constructor(named: Iterable<readonly [string, Shape]>) {
    for (const [name, shape] of named) {
      const folded = foldName(name);
      if (!this.shapes.has(folded)) this.shapes.set(folded, shape);
      const layer = /(?:^|\.)layers\.(\d{1,6})\./.exec(name);
      if (layer) this.layers = Math.max(this.layers, Number(layer[1]) + 1);
    }
  }

  /** The shape of a name, or of the layers' `mixer.x` for `~mixer.x`. */
  get(name: string): Shape | undefined {
    return this.shapes.get(name.replace('~', 'layers.*.'));
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  get depth(): number | undefined {
    return this.layers > 0 ? this.layers : undefined;
  }
}

/** `layers.12.mixer.D` to `layers.*.mixer.D`. */
export function foldName(name: string): string {
  return name.replace(/(^|\.)\d+(?=\.|$)/g, '$1*');
}

export interface SettingRule {
  readonly name: string;
  /** Folded keys that show the setting. */
  readonly about: RegExp;
  /** The value, or undefined when these weights do not show it. */
  readonly read: (k: FoldedShapes) => Setting | undefined;
}

/** In the order in which a person would want to hear of a difference. */
export const SETTINGS: readonly SettingRule[] = [
  { name: 'kind', about: /^(patch_embed|embedding|lm_head)\./, read: kind },
  { name: 'embed_dim', about: /in_proj\.weight$/, read: (k) => k.get('~mixer.in_proj.weight')?.[1] },
  { name: 'depth', about: /(^|\.)layers\.\*\./, read: (k) => k.depth },
  { name: 'bimamba_type', about: /mixer\.(A_b_log|D_b|\w+_b\.)/, read: bimambaType },
  { name: 'rms_norm', about: /norm(_f)?\.bias$/, read: rmsNorm },
  { name: 'if_cls_token', about: /^cls_token/, read: (k) => vision(k) && classTokens(k) > 0 },
  { name: 'use_double_cls_token', about: /^cls_token/, read: doubleToken },
  { name: 'if_abs_pos_embed', about: /^pos_embed$/, read: (k) => vision(k) && k.has('pos_embed') },
  { name: 'if_rope', about: /^rope\./, read: (k) => vision(k) && k.has('rope.freqs_cos') },
  { name: 'init_layer_scale', about: /mixer\.gamma$/, read: layerScale },
  { name: 'expand', about: /in_proj\.weight$/, read: expand },
  { name: 'd_state', about: /mixer\.A_(b_)?log$/, read: (k) => k.get('~mixer.A_log')?.[1] },
  { name: 'd_conv', about: /mixer\.conv1d(_b)?\.weight$/, read: (k) => k.get('~mixer.conv1d.weight')?.[2] },
  { name: 'dt_rank', about: /mixer\.dt_proj(_b)?\.weight$/, read: dtRank },
  { name: 'conv_bias', about: /mixer\.conv1d(_b)?\.bias$/, read: (k) => mixerHas(k, 'conv1d.bias') },
  { name: 'bias', about: /mixer\.(in|out)_proj\.bias$/, read: (k) => mixerHas(k, 'in_proj.bias') },
  { name: 'patch_size', about: /^patch_embed\./, read: (k) => k.get('patch_embed.proj.weight')?.[2] },
  { name: 'channels', about: /^patch_embed\./, read: (k) => k.get('patch_embed.proj.weight')?.[1] },
  { name: 'patches', about: /^pos_embed$/, read: patches },
  { name: 'num_classes', about: /^head\./, read: (k) => k.get('head.weight')?.[0] },
  { name: 'vocab_size', about: /^(embedding|lm_head)\.weight$/, read: (k) => k.get('embedding.weight')?.[0] },
];

function kind(k: FoldedShapes): Setting | undefined {
  if (k.has('patch_embed.proj.weight')) return 'a vision model';
  return k.has('embedding.weight') ? 'a language model' : undefined;
}

/** Undefined unless these are a vision model's weights, else true. */
function vision(k: FoldedShapes): true | undefined {
  return k.has('patch_embed.proj.weight') || undefined;
}

function bimambaType(k: FoldedShapes): Setting | undefined {
  if (!k.has('~mixer.A_log')) return undefined;
  if (!k.has('~mixer.A_b_log')) return 'none';
  return k.has('~mixer.conv1d_b.weight') ? 'v2' : 'v1';
}

function rmsNorm(k: FoldedShapes): Setting | undefined {
  return k.has('norm_f.weight') ? !k.has('norm_f.bias') : undefined;
}

function classTokens(k: FoldedShapes): number {
  if (k.has('cls_token_head') || k.has('cls_token_tail')) return 2;
  return k.has('cls_token') ? 1 : 0;
}

function doubleToken(k: FoldedShapes): Setting | undefined {
  return vision(k) && classTokens(k) > 0 ? classTokens(k) === 2 : undefined;
}

function layerScale(k: FoldedShapes): Setting | undefined {
  if (!k.has('~mixer.A_log')) return undefined;
  return k.has('~mixer.gamma') ? 'a number' : 'null';
}

function mixerHas(k: FoldedShapes, name: string): Setting | undefined {
  return k.has('~mixer.A_log') ? k.has(`~mixer.${name}`) : undefined;
}

function expand(k: FoldedShapes): Setting | undefined {
  const shape = k.get('~mixer.in_proj.weight');
  return shape && shape.length === 2 && shape[1] > 0 ? shape[0] / 2 / shape[1] : undefined;
}

/** "auto" is embed_dim / 16, rounded up. */
function dtRank(k: FoldedShapes): Setting | undefined {
  const rank = k.get('~mixer.dt_proj.weight')?.[1];
  const width = k.get('~mixer.in_proj.weight')?.[1];
  return rank !== undefined && width !== undefined && rank === Math.ceil(width / 16) ? 'auto' : rank;
}

function patches(k: FoldedShapes): Setting | undefined {
  const tokens = k.get('pos_embed')?.[1];
  return tokens === undefined ? undefined : tokens - classTokens(k);
}
