/** Writing on: the next token is chosen from the scores, read in turn, and so on. */
import { Random } from '../models/initialize';
import { ranked } from './nextTokens';
import type { RecurrentMamba } from './recurrent';

/** Chooses the next token from the scores (V). */
export type Choose = (logits: Float32Array) => number;

/** The tokens that follow `prompt`, `count` of them, or fewer when `end` is chosen; it is the last one then. */
export function generate(
  model: RecurrentMamba,
  prompt: readonly number[],
  count: number,
  choose: Choose = likeliest,
  end?: number,
): number[] {
  if (prompt.length === 0) throw new RangeError('Generation needs at least one token to start from.');
  model.reset();
  let logits: Float32Array = new Float32Array(0);
  for (const token of prompt) logits = model.step(token);
  const written: number[] = [];
  while (written.length < count && (end === undefined || written.at(-1) !== end)) {
    written.push(choose(logits));
    if (written.length < count) logits = model.step(written.at(-1)!);
  }
  return written;
}

/** The token with the largest score; the first one when several share it. */
export function likeliest(logits: Float32Array): number {
  let best = 0;
  for (let k = 1; k < logits.length; k++) if (logits[k] > logits[best]) best = k;
  return best;
}

/** Chooses at random as the scores say, among the `topK` likeliest; the same seed gives the same tokens. */
export function sampler(temperature: number, topK: number, seed: number): Choose {
  if (!(temperature > 0)) throw new RangeError('The temperature must be above 0.');
  const random = new Random('tokens', seed);
  return (logits) => {
    const candidates = ranked(logits, topK);
    const weights = candidates.map((k) => Math.exp((logits[k] - logits[candidates[0]]) / temperature));
    let left = random.uniform() * weights.reduce((sum, w) => sum + w, 0);
    let i = 0;
    while (i < weights.length - 1 && left >= weights[i]) left -= weights[i++];
    return candidates[i];
  };
}
