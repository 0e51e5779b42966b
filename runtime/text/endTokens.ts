import { join } from 'node:path';
import { InputError } from '../checkpoint/errors';
import { readObject } from './jsonFile';

/**
 * The tokens that end a text, as the files of a model's folder say: `eos_token_id` of generation_config.json or
 * config.json, else the tokenizer's `eos_token`. Empty when none says so. Rejects with an InputError when a file
 * cannot be used.
 */
export async function endTokens(folder: string): Promise<ReadonlySet<number>> {
  for (const file of ['generation_config.json', 'config.json']) {
    const path = join(folder, file);
    const ids = (await readObject(path))?.['eos_token_id'] ?? undefined;
    if (ids !== undefined) return new Set(tokenIds(ids, path));
  }
  const id = await endOfTokenizer(folder);
  return new Set(id === undefined ? [] : [id]);
}

/** One id or a list of them. */
function tokenIds(given: unknown, path: string): number[] {
  const ids: unknown[] = Array.isArray(given) ? given : [given];
  if (ids.every((id): id is number => Number.isInteger(id))) return ids;
  throw new InputError(
    `"eos_token_id" in ${path} is ${JSON.stringify(given)}; it takes a token id or a list of them.`,
  );
}

/** The id of the token that tokenizer_config.json names as `eos_token`, among those added to tokenizer.json. */
async function endOfTokenizer(folder: string): Promise<number | undefined> {
  const config = (await readObject(join(folder, 'tokenizer_config.json'))) ?? {};
  const end = config['eos_token'] as { content?: unknown } | string | null | undefined;
  const content = typeof end === 'string' ? end : end?.content;
  const { added_tokens: added } = (await readObject(join(folder, 'tokenizer.json'))) ?? {};
  if (content === undefined || !Array.isArray(added)) return undefined;
  const token = added.find((t: { content?: unknown }) => t.content === content) as { id: number } | undefined;
  return token?.id;
}
