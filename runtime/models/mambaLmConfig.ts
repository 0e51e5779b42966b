/** Configurations of Mamba language models: mamba-minimal's and the original's arguments, and Hugging Face's. */
import { Arguments, ConfigError } from './arguments';
import type { MixerConfig } from './mixer';

export interface MambaLmConfig {
  vocabSize: number;
  depth: number;
  normEpsilon: number;
  /** The head has no weights of its own: it uses the embedding's. */
  tiedHead: boolean;
  mixer: MixerConfig;
}

/** Keys that only configurations of language models have. */
const MARKS = ['model_type', 'vocab_size', 'hidden_size', 'num_hidden_layers', 'd_model', 'n_layer'];

export function isLanguageModel(args: Record<string, unknown>): boolean {
  return MARKS.some((key) => key in args);
}

/** A configuration of any of these forms. Throws a `ConfigError`. */
export function mambaLmConfig(args: Record<string, unknown>): MambaLmConfig {
  const huggingFace = 'model_type' in args || 'hidden_size' in args;
  return huggingFace ? fromHuggingFace(args) : fromModelArgs(args);
}

/** `ModelArgs` of mamba-minimal, or `MambaConfig` of the original, which keeps the mixer's under `ssm_cfg`. */
function fromModelArgs(args: Record<string, unknown>): MambaLmConfig {
  refuseOtherLayers(args);
  const a = new Arguments('Mamba', args);
  const dModel = a.size(oneOf(args, 'd_model'), 0);
  const vocabSize = a.size(oneOf(args, 'vocab_size'), 0);
  const s = a.nested('ssm_cfg');
  const size = (name: string, fallback: number) => a.size(name, s.size(name, fallback));
  const config: MambaLmConfig = {
    vocabSize: roundUp(vocabSize, a.size('pad_vocab_size_multiple', 8)),
    depth: a.size(oneOf(args, 'n_layer'), 0),
    normEpsilon: a.number('norm_epsilon', 1e-5),
    tiedHead: a.flag('tie_embeddings', true),
    mixer: unidirectional({
      dModel,
      dInner: Math.floor(a.number('expand', s.number('expand', 2)) * dModel),
      dState: size('d_state', 16),
      dConv: size('d_conv', 4),
      dtRank: a.autoSize('dt_rank', s.autoSize('dt_rank', Math.ceil(dModel / 16))),
      bias: a.flag('bias', s.flag('bias', false)),
      convBias: a.flag('conv_bias', s.flag('conv_bias', true)),
    }),
  };
  a.ignore('rms_norm', 'residual_in_fp32', 'fused_add_norm', 'd_intermediate', 'attn_layer_idx', 'attn_cfg');
  s.ignore('layer', 'dt_min', 'dt_max', 'dt_init', 'dt_scale', 'dt_init_floor', 'use_fast_path');
  a.finish();
  s.finish();
  return checked(config);
}

/** What the original's configuration can ask for beyond Mamba-1 blocks with RMSNorm. */
function refuseOtherLayers(args: Record<string, unknown>): void {
  const layer = (args['ssm_cfg'] as Record<string, unknown> | undefined)?.['layer'] ?? 'Mamba1';
  const attention = args['attn_layer_idx'];
  if (layer !== 'Mamba1') throw unsupported(`"layer": ${JSON.stringify(layer)} in ssm_cfg`);
  if (args['rms_norm'] === false) throw unsupported('"rms_norm": false');
  if (args['d_intermediate']) throw unsupported('"d_intermediate" (an MLP in each block)');
  if (Array.isArray(attention) && attention.length > 0)
    throw unsupported('"attn_layer_idx" (attention layers)');
}

/** `MambaConfig` of transformers; keys that do not matter here are many and pass unread. */
function fromHuggingFace(args: Record<string, unknown>): MambaLmConfig {
  const type = args['model_type'] ?? 'mamba';
  if (type !== 'mamba') throw unsupported(`Model type ${JSON.stringify(type)}`);
  const activation = args['hidden_act'] ?? 'silu';
  if (activation !== 'silu' && activation !== 'swish')
    throw unsupported(`"hidden_act": ${JSON.stringify(activation)}`);
  const a = new Arguments('The configuration', args);
  const dModel = a.size(oneOf(args, 'hidden_size', 'd_model'), 0);
  return checked({
    vocabSize: a.size(oneOf(args, 'vocab_size'), 0),
    depth: a.size(oneOf(args, 'num_hidden_layers', 'n_layer'), 0),
    normEpsilon: a.number('layer_norm_epsilon', 1e-5),
    tiedHead: a.flag('tie_word_embeddings', true),
    mixer: unidirectional({
      dModel,
      dInner: Math.floor(a.number('expand', 2) * dModel),
      dState: a.size('state_size', 16),
      dConv: a.size('conv_kernel', 4),
      dtRank: a.autoSize('time_step_rank', Math.ceil(dModel / 16)),
      bias: a.flag('use_bias', false),
      convBias: a.flag('use_conv_bias', true),
    }),
  });
}

function unidirectional(
  sizes: Omit<MixerConfig, 'bimambaType' | 'divideOut' | 'initLayerScale'>,
): MixerConfig {
  return { ...sizes, bimambaType: 'none', divideOut: false, initLayerScale: undefined };
}

/** The first of these names that is given; they are other words for one thing that has no default. */
function oneOf(args: Record<string, unknown>, ...names: string[]): string {
  const given = names.find((name) => args[name] !== undefined && args[name] !== null);
  if (given) return given;
  throw new ConfigError(
    `The configuration of this language model does not say ${names.map((n) => `"${n}"`).join(' or ')}; add it.`,
  );
}

function checked(config: MambaLmConfig): MambaLmConfig {
  if (config.mixer.dInner >= 1) return config;
  throw new ConfigError('"expand" leaves no channels; use 2, as the original does.');
}

function unsupported(what: string): ConfigError {
  return new ConfigError(
    `${what} is not supported; the language models that run here are Mamba-1 with RMSNorm and SiLU (model type "mamba").`,
  );
}

function roundUp(n: number, multiple: number): number {
  return Math.ceil(n / multiple) * multiple;
}

/**
 * The name that the model gives a tensor of a checkpoint: mamba-minimal's. The original puts `backbone.` before
 * all but the head, and Hugging Face also says `embeddings`.
 */
export function canonicalName(key: string): string {
  return key.replace(/^backbone\./, '').replace(/^embeddings\./, 'embedding.');
}
