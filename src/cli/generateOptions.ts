import type { GenerationRequest } from '../../runtime/engine/generation';
import { parseCommand, positiveNumber, UsageError, wholeNumber } from './flags';

/** What `scanpoint generate` is asked to do. */
export interface GenerateOptions extends GenerationRequest {
  model: string;
  checkpoint?: string;
  input?: string;
  text?: string;
  seed: number;
  json: boolean;
}

export const GENERATE_USAGE = `Usage: scanpoint generate MODEL (--text TEXT | --input FILE) [options]

Writes on from a text or from token ids, one token at a time. MODEL is a language model's folder or a JSON file with
its configuration.

  --text TEXT         the text to write on from, for a folder that has a tokenizer
  --input FILE        instead of it a .txt, or token ids: a JSON list, .npy, or a tensor file with "input_ids"
  --tokens N          how many tokens at most (50); an end token ends the text sooner
  --temperature X     draw tokens by their probabilities, sharper below 1 and flatter above (else the likeliest)
  --top-k K           draw among the K likeliest
  --seed N            for the draws, and for random weights (0)
  --checkpoint FILE   weights: safetensors or a PyTorch file (the folder's when absent, else random)
  --json              one JSON object on standard output at the end instead of text as it comes

The text goes to standard output, all else to standard error. Exit code: 0, or 1 for a fault of the input.`;

const FLAGS = {
  checkpoint: { type: 'string' },
  input: { type: 'string' },
  text: { type: 'string' },
  tokens: { type: 'string' },
  temperature: { type: 'string' },
  'top-k': { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const DEFAULT_TOKENS = 50;

/** Reads the arguments behind `generate`. Throws a `UsageError`. */
export function readGenerateOptions(args: string[]): GenerateOptions {
  const { model, values } = parseCommand('generate', args, FLAGS);
  const { checkpoint, input, text, json = false } = values;
  if (input === undefined && text === undefined)
    throw new UsageError('"scanpoint generate" needs --text or --input to write on from.');
  if (input !== undefined && text !== undefined)
    throw new UsageError('"scanpoint generate" takes --text or --input, not both.');
  return {
    model,
    checkpoint,
    input,
    text,
    tokens: wholeNumber('tokens', values.tokens, 1) ?? DEFAULT_TOKENS,
    temperature: positiveNumber('temperature', values.temperature),
    topK: wholeNumber('top-k', values['top-k'], 1),
    seed: wholeNumber('seed', values.seed, 0) ?? 0,
    json,
  };
}
