import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import type { MakeTokenizer } from './tokenizer';

/** The kinds of tokenizers that Hugging Face saves. */
export const huggingFaceTokenizer: MakeTokenizer = (tokenizer, config) => {
  const made = new HuggingFaceTokenizer(tokenizer, config);
  return {
    encode: (text) => made.encode(text).ids,
    // Tidied spaces would differ from what the model has read or written.
    decode: (ids) => made.decode([...ids], { clean_up_tokenization_spaces: false }),
  };
};
