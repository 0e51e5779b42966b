import { InputError } from '../checkpoint/errors';
import { fileSource } from '../checkpoint/file';
import { checkTokens, type LoadedInput } from '../image/input';
import { Tensor } from '../tensor/tensor';
import type { Tokenizer } from './tokenizer';

const SHOWN = 12;

/** The text of a file, without the line break at its end. Throws a CheckpointError when it cannot be read. */
export function readText(path: string): string {
  const source = fileSource(path);
  return new TextDecoder().decode(source.read(0, source.size)).replace(/\r?\n$/, '');
}

/** A text as one sequence of tokens. Throws an InputError. */
export function tokensOfText(text: string, tokenizer: Tokenizer | undefined, vocabSize: number): LoadedInput {
  if (!tokenizer) {
    throw new InputError(
      'Text needs a tokenizer.json beside the config.json of the model. Put one there, or give token ids as "input".',
    );
  }
  const ids = tokenizer.encode(text);
  const input = new Tensor(Float32Array.from(ids), [1, ids.length], undefined, 0, 'int64', ['B', 'L']);
  checkTokens('the text', input, vocabSize);
  const shown = ids.slice(0, SHOWN).map((id) => JSON.stringify(tokenizer.decode([id])));
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : '';
  return { input, described: `The text is ${ids.length} tokens: ${shown.join(' ')}${more}.` };
}
