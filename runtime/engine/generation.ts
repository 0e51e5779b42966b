import { InputError } from '../checkpoint/errors';
import type { MambaLmConfig } from '../models/mambaLmConfig';
import { endTokens } from '../text/endTokens';
import { chooser, read, type Sampling, type Written, write } from '../text/generate';
import { RecurrentMamba } from '../text/recurrent';
import type { Tokenizer } from '../text/tokenizer';
import type { Loaded } from './load';

/** What to write. */
export interface GenerationRequest extends Sampling {
  /** How many tokens at most. */
  tokens: number;
}

/** One token that was read or written. */
export type GenerationStep =
  | { readonly kind: 'read'; readonly done: number; readonly of: number }
  | ({ readonly kind: 'written'; readonly end: boolean } & Written);

/** Writes on from the input tokens of a loaded language model, with the model as a recurrence. */
export class Generation {
  private model?: RecurrentMamba;

  private constructor(
    private readonly loaded: Loaded,
    private readonly config: MambaLmConfig,
    private readonly folder: string | undefined,
  ) {}

  /** For the model that was loaded; undefined when it is no language model. */
  static of(loaded: Loaded): Generation | undefined {
    const { architecture, folder } = loaded.spec;
    return architecture.kind === 'mambaLm' ? new Generation(loaded, architecture.config, folder) : undefined;
  }

  get tokenizer(): Tokenizer | undefined {
    return this.loaded.tokenizer;
  }

  /** The input tokens, a list for each sequence. */
  sequences(): number[][] {
    const { program, execution } = this.loaded.state;
    const ids = execution.tensor(program.inputs['input_ids']);
    const [batch, length] = ids.shape;
    return Array.from({ length: batch }, (_, b) => Array.from({ length }, (_, t) => ids.at(b, t)));
  }

  /** The tokens that are written on from. Throws an InputError when the input has several sequences. */
  prompt(): number[] {
    const sequences = this.sequences();
    if (sequences.length === 1) return sequences[0];
    throw new InputError(
      `The input has ${sequences.length} sequences, but generation writes on from one. Give an input with one.`,
    );
  }

  /**
   * Reads the prompt, then writes, one token at a time; whoever takes the steps may end them. Rejects with an
   * InputError, or a `RangeError` when the scores name no token.
   */
  async *steps({ tokens, ...sampling }: GenerationRequest): AsyncGenerator<GenerationStep> {
    const prompt = this.prompt();
    const choose = chooser(sampling);
    const ends = this.folder === undefined ? new Set<number>() : await endTokens(this.folder);
    this.model ??= this.recurrent();
    for (const done of read(this.model, prompt)) yield { kind: 'read', done, of: prompt.length };
    for (const token of write(this.model, tokens, choose, ends))
      yield { kind: 'written', end: ends.has(token.id), ...token };
  }

  private recurrent(): RecurrentMamba {
    const { program, execution } = this.loaded.state;
    return new RecurrentMamba(this.config, (name) =>
      execution.tensor(program.parameter(name)!.value).toArray(),
    );
  }
}
