import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { ConfigError } from '../models/arguments';
import { parseVimName, type VimConfig, vimConfig } from '../models/vimConfig';

/** A model as a person names it. */
export interface ModelSpec {
  /** For titles: the published name, or the file's name. */
  name: string;
  config: VimConfig;
  /** How images become inputs; what is absent is as in the original's evaluation. */
  preprocess: Record<string, unknown>;
  /** Names of the classes, if known. */
  labels: string[];
}

/**
 * Reads a model: a published name, a JSON file, or the JSON itself. The JSON holds the constructor's arguments,
 * or `{"model": arguments or name, "preprocess": ..., "labels": [...]}`. Throws a `ConfigError`.
 */
export async function readModelSpec(model: string | Record<string, unknown>): Promise<ModelSpec> {
  if (typeof model !== 'string') return fromObject(model, 'Vision Mamba');
  if (extname(model) !== '.json')
    return { name: model, config: vimConfig(parseVimName(model)), preprocess: {}, labels: [] };
  return fromObject(await readJson(model), basename(model, '.json'));
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
    config: configOf(model),
    preprocess: preprocess as Record<string, unknown>,
    labels: labels.map(String),
  };
}

function configOf(model: unknown): VimConfig {
  if (typeof model === 'string') return vimConfig(parseVimName(model));
  if (typeof model === 'object' && model !== null) return vimConfig(model as Record<string, unknown>);
  throw new ConfigError('"model" must be a published name or an object with the constructor\'s arguments.');
}
