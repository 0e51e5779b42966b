/** Telling a model's configuration from any other JSON, and what usually lies beside it. No vscode. */
import { isRecord } from './launchRules';

/** Constructor arguments of Vim and Mamba; two of them make a configuration. */
const ARGUMENTS = new Set([
  'img_size',
  'patch_size',
  'stride',
  'embed_dim',
  'depth',
  'num_classes',
  'd_model',
  'n_layer',
  'd_state',
  'd_conv',
  'expand',
  'dt_rank',
  'vocab_size',
  'ssm_cfg',
  'bimamba_type',
  'if_cls_token',
  'if_abs_pos_embed',
  'if_bidirectional',
  'use_middle_cls_token',
  'final_pool_type',
  'rms_norm',
  'residual_in_fp32',
]);

/** True for a JSON text whose object (or an object one level below) has the arguments of a Mamba model. */
export function looksLikeModel(text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  if (!isRecord(value)) return false;
  return [value, ...Object.values(value).filter(isRecord)].some(
    (object) => Object.keys(object).filter((key) => ARGUMENTS.has(key)).length >= 2,
  );
}

const CHECKPOINT_ENDINGS = ['.safetensors', '.pth', '.pt', '.bin'];

/** The checkpoint among `names` that goes with the model file `model`: the same name with another ending. */
export function checkpointBeside(model: string, names: readonly string[]): string | undefined {
  const stem = model.replace(/\.json$/i, '');
  return CHECKPOINT_ENDINGS.map((ending) => stem + ending).find((name) => names.includes(name));
}

/** Glob of what a vision model takes as its input. */
export const INPUT_GLOB = '*.{png,jpg,jpeg,npy}';

/** A short name for the session of a model file: `vim_digits.json` -> `vim_digits`. */
export function sessionName(model: string): string {
  return model.replace(/^.*[\\/]/, '').replace(/\.json$/i, '');
}
