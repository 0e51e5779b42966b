import type { Generation } from './generation';
import type { Entry } from './inspector';

/** More tokens or sequences than this are not shown. */
const TOKENS = 100;
const SEQUENCES = 8;

/** The input tokens as text, `The| cat| sat`, a line for each sequence; nothing without a tokenizer. */
export function inputTokens(generation: Generation | undefined): Entry[] {
  const { tokenizer } = generation ?? {};
  if (!generation || !tokenizer) return [];
  const sequences = generation.sequences();
  return sequences.slice(0, SEQUENCES).map((ids, b) => {
    const pieces = ids.slice(0, TOKENS).map((id) => tokenizer.decode([id]));
    const more = ids.length > TOKENS ? ` and ${ids.length - TOKENS} more` : '';
    const name = sequences.length > 1 ? `tokens of sequence ${b}` : 'tokens';
    return { kind: 'plain', name, value: `${JSON.stringify(pieces.join('|'))}${more}`, type: 'str' };
  });
}
