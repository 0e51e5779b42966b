import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { ConfigError } from '../models/arguments';
import { isLanguageModel, type MambaLmConfig, mambaLmConfig } from '../models/mambaLmConfig';
import { parseVimName, type VimConfig, vimConfig } from '../models/vimConfig';

/** A model's kind with its configuration. */
export type Architecture =
  | { readonly kind: 'vim'; readonly config: VimConfig }
  | { readonly kind: 'mambaLm'; readonly config: MambaLmConfig };

/** A model as a person names it. */
export interface ModelSpec {
  /** For titles: the published name, or the name of the file or folder. */
  name: string;
  architecture: Architecture;
  /** How images become inputs; what is absent is as in the original's evaluation. */
  preprocess: Record<string, unknown>;
  /** Names of the classes, if known. */
  labels: string[];
  /** The folder that holds configuration, weights and tokenizer, as Hugging Face saves them. */
  folder?: string;
  /** The weights beside the configuration, for when no others are named. */
  weights?: string;
}

/** Weights in a model's folder, the ones to prefer first. */
const WEIGHTS = ['model.safetensors', 'pytorch_model.bin'];

/**
 * Reads a model: a published name, a folder with `config.json`, a JSON file, or the JSON itself. The JSON holds
 * the constructor's arguments, or `{"model": arguments or name, "preprocess": ..., "labels": [...]}`. Throws a
 * `ConfigError`.
 */
export async function readModelSpec(model: string | Record<string, unknown>): Promise<ModelSpec> {
  if (typeof model !== 'string') return fromObject(model, isLanguageModel(model) ? 'Mamba' : 'Vision Mamba');
  const files = await filesIn(model);
  if (files) return fromFolder(model, files);
  if (extname(model) !== '.json')
    return { name: model, architecture: vim(parseVimName(model)), preprocess: {}, labels: [] };
  const json = await readJson(model);
  if (basename(model) !== 'config.json' || !isLanguageModel(json))
    return fromObject(json, basename(model, '.json'));
  return fromFolder(dirname(model), (await filesIn(dirname(model))) ?? []);
}

/** The names in a folder, or undefined when there is no such folder. */
async function filesIn(path: string): Promise<string[] | undefined> {
  return readdir(path).catch(() => undefined);
}

async function fromFolder(folder: string, files: readonly string[]): Promise<ModelSpec> {
  if (!files.includes('config.json'))
    throw new ConfigError(
      `The folder ${folder} has no config.json, so it does not say which model it holds.`,
    );
  const spec = fromObject(await readJson(join(folder, 'config.json')), basename(resolve(folder)));
  const found = WEIGHTS.find((name) => files.includes(name));
  const shards = files.find((name) => name.endsWith('.index.json'));
  if (!found && shards)
    throw new ConfigError(
      `The weights in ${folder} are in several files (${shards}); save them in one with save_pretrained(..., max_shard_size="100GB").`,
    );
  return { ...spec, folder, weights: found && join(folder, found) };
}

async function readJson(path: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    throw new ConfigError(
      `The model file ${path} cannot be read; check "model" in the launch configuration.`,
    );
  }
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch (error) {
    throw new ConfigError(`The model file ${path} is not JSON: ${(error as Error).message}.`);
  }
  throw new ConfigError(`The model file ${path} must hold a JSON object with the constructor's arguments.`);
}

function fromObject(json: Record<string, unknown>, name: string): ModelSpec {
  const wrapped = 'model' in json;
  const { model, preprocess = {}, labels = [], ...rest } = wrapped ? json : { model: json };
  const unknown = Object.keys(rest)[0];
  if (unknown)
    throw new ConfigError(
      `The model file has the key "${unknown}" beside "model"; only "preprocess" and "labels" belong there.`,
    );
  if (typeof preprocess !== 'object' || preprocess === null)
    throw new ConfigError('"preprocess" must be an object.');
  if (!Array.isArray(labels)) throw new ConfigError('"labels" must be a list with one name per class.');
  return {
    name,
    architecture: architectureOf(model),
    preprocess: preprocess as Record<string, unknown>,
    labels: labels.map(String),
  };
}

function architectureOf(model: unknown): Architecture {
  if (typeof model === 'string') return vim(parseVimName(model));
  if (typeof model !== 'object' || model === null)
    throw new ConfigError('"model" must be a published name or an object with the constructor\'s arguments.');
  const args = model as Record<string, unknown>;
  return isLanguageModel(args) ? { kind: 'mambaLm', config: mambaLmConfig(args) } : vim(args);
}

function vim(args: Record<string, unknown>): Architecture {
  return { kind: 'vim', config: vimConfig(args) };
}
