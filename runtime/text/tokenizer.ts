/** Text to tokens and back, as the files beside a model say. */
import { join } from 'node:path';
import { InputError } from '../checkpoint/errors';
import { readObject } from './jsonFile';

export interface Tokenizer {
  encode(text: string): number[];
  decode(ids: readonly number[]): string;
}

/** Makes a tokenizer of what `tokenizer.json` and `tokenizer_config.json` hold; may throw on kinds it lacks. */
export type MakeTokenizer = (tokenizer: object, config: object) => Tokenizer;

/**
 * The tokenizer of a model's folder, or undefined when it has none. Rejects with an InputError when its files
 * cannot be used.
 */
export async function openTokenizer(folder: string, make: MakeTokenizer): Promise<Tokenizer | undefined> {
  const tokenizer = await readObject(join(folder, 'tokenizer.json'));
  if (!tokenizer) return undefined;
  const config = (await readObject(join(folder, 'tokenizer_config.json'))) ?? {};
  try {
    return make(tokenizer, config);
  } catch (error) {
    throw new InputError(
      `The tokenizer in ${folder} cannot be used (${(error as Error).message}). Give token ids instead of text.`,
    );
  }
}
