import type { Tokenizer } from './tokenizer';

/** Tokens before the first one that are decoded along, since a token's text may depend on its neighbours. */
const CONTEXT = 6;
/** What a tokenizer gives for a character that is not complete yet. */
const INCOMPLETE = '\uFFFD';

/** Text from tokens as they come; a character whose bytes are spread over several tokens comes whole. */
export class TextStream {
  private readonly ids: number[];
  /** The text of `ids` from here on is compared ... */
  private from = 0;
  /** ... and this much of it, in tokens, has been given. */
  private given: number;

  constructor(
    private readonly tokenizer: Tokenizer,
    before: readonly number[],
  ) {
    this.ids = before.slice(-CONTEXT);
    this.given = this.ids.length;
  }

  /** The text that is new with this token; '' while a character is not complete. */
  push(id: number): string {
    this.ids.push(id);
    const text = this.fresh();
    if (text.endsWith(INCOMPLETE)) return '';
    this.from = this.given;
    this.given = this.ids.length;
    return text;
  }

  /** What is left at the end: an incomplete character, or nothing. */
  end(): string {
    return this.fresh();
  }

  private fresh(): string {
    const before = this.tokenizer.decode(this.ids.slice(this.from, this.given));
    return this.tokenizer.decode(this.ids.slice(this.from)).slice(before.length);
  }
}
