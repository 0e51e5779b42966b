import { formatNumber } from '../../src/protocol/numbers';
import { InputError } from '../checkpoint/errors';
import { tokenWithShare } from '../text/nextTokens';
import { TextStream } from '../text/textStream';
import type { Tokenizer } from '../text/tokenizer';
import type { Generation, GenerationRequest, GenerationStep } from './generation';

/** More tokens than this are not listed one by one. */
const LISTED = 200;
/** Milliseconds from one report of progress to the next. */
const REPORT_EVERY = 100;

type WrittenStep = Extract<GenerationStep, { kind: 'written' }>;

export interface GenerationListener {
  progress(step: string): void;
  /** Lets messages in; true when the writing is to end early. */
  breathe(): Promise<boolean>;
}

/**
 * Writes on and says what came of it: the text (or the ids), each token with its probability, and how fast it was.
 * Ended early, it answers with what is written by then.
 */
export async function answerGeneration(
  generation: Generation | undefined,
  request: GenerationRequest,
  listener: GenerationListener,
): Promise<string> {
  if (!generation) throw new InputError('generate(...) is for language models; this model reads images.');
  const written: WrittenStep[] = [];
  let [started, reported, early] = [performance.now(), 0, false];
  for await (const step of generation.steps(request)) {
    const now = performance.now();
    if (step.kind === 'written') written.push(step);
    else started = now;
    if (now - reported > REPORT_EVERY) {
      listener.progress(progressOf(step, written.length, request.tokens));
      reported = now;
    }
    early = await listener.breathe();
    if (early) break;
  }
  const seconds = (performance.now() - started) / 1000;
  const closing = closingLine(written.length, seconds, {
    ended: written.at(-1)?.end,
    early: early && written.length < request.tokens,
  });
  if (written.length === 0) return closing;
  const { tokenizer } = generation;
  return [textOf(generation.prompt(), written, tokenizer), listed(written, tokenizer), closing].join('\n');
}

function progressOf(step: GenerationStep, written: number, tokens: number): string {
  return step.kind === 'read'
    ? `${step.done} of ${step.of} input tokens read`
    : `${written} of ${tokens} tokens written`;
}

/** `20 tokens in 0.5 s, 40 tokens/s, up to the end token.` */
export function closingLine(
  tokens: number,
  seconds: number,
  how: { ended?: boolean; early?: boolean },
): string {
  const perSecond = seconds > 0 ? `, ${formatNumber(tokens / seconds)} tokens/s` : '';
  const ending = how.ended ? ', up to the end token' : how.early ? ', stopped early' : '';
  return `${tokens} ${tokens === 1 ? 'token' : 'tokens'} in ${formatNumber(seconds)} s${perSecond}${ending}.`;
}

/** What is written as text, without an end token; as ids when there is no tokenizer. */
function textOf(
  prompt: readonly number[],
  written: readonly WrittenStep[],
  tokenizer: Tokenizer | undefined,
): string {
  if (!tokenizer) return JSON.stringify(written.map(({ id }) => id));
  const stream = new TextStream(tokenizer, prompt);
  const parts = written.filter(({ end }) => !end).map(({ id }) => stream.push(id));
  return [...parts, stream.end()].join('');
}

function listed(written: readonly WrittenStep[], tokenizer: Tokenizer | undefined): string {
  const items = written
    .slice(0, LISTED)
    .map(({ id, probability }) => tokenWithShare(id, probability, tokenizer));
  const more = written.length > LISTED ? ` · and ${written.length - LISTED} more` : '';
  return `${items.join(' · ')}${more}`;
}
