/** Writing on: the next token is chosen from the scores, read in turn, and so on. */
import { Random } from '../models/initialize';
import { BLOCK, type RecurrentMamba } from './recurrent';
import { probabilities, ranked } from './scores';

/** Chooses the next token from the scores (V). */
export type Choose = (logits: Float32Array) => number;

/** How tokens are drawn; without temperature and topK the likeliest is taken. */
export interface Sampling {
  temperature?: number;
  topK?: number;
  seed?: number;
}

/** A token that was written, with the probability that the model gave it. */
export interface Written {
  readonly id: number;
  readonly probability: number;
}

const NONE: ReadonlySet<number> = new Set();

/** Reads a text from its beginning; gives how many tokens are read, after every few. Throws a `RangeError`. */
export function* read(model: RecurrentMamba, tokens: readonly number[]): Generator<number> {
  if (tokens.length === 0) throw new RangeError('Generation needs at least one token to start from.');
  model.reset();
  for (let t = 0; t < tokens.length; t += BLOCK) {
    model.read(...tokens.slice(t, t + BLOCK));
    yield Math.min(t + BLOCK, tokens.length);
  }
}

/**
 * Writes `count` tokens after those that were read, or fewer when one of `ends` is chosen, which is the last one
 * then. Throws a `RangeError` when the scores give no probabilities.
 */
export function* write(
  model: RecurrentMamba,
  count: number,
  choose: Choose = likeliest,
  ends = NONE,
): Generator<Written> {
  for (let n = 1; n <= count; n++) {
    const logits = model.scores();
    const probability = probabilities(logits);
    if (!probability) {
      throw new RangeError(
        `The scores of new token ${n} hold NaN or Inf, so none can be chosen. Run the model with the filters "nan" and "inf" to see where they come from.`,
      );
    }
    const id = choose(logits);
    yield { id, probability: probability(id) };
    if (ends.has(id) || n === count) return;
    model.read(id);
  }
}

/** The way to choose that is asked for. Throws a `RangeError` for a temperature that is not above 0. */
export function chooser({ temperature, topK, seed = 0 }: Sampling): Choose {
  if (temperature === undefined && topK === undefined) return likeliest;
  return sampler(temperature ?? 1, topK ?? Infinity, seed);
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
    const candidates = topK < logits.length ? ranked(logits, topK) : logits.map((_, k) => k);
    const top = logits[likeliest(logits)];
    const weights = Float64Array.from(candidates, (k) => Math.exp((logits[k] - top) / temperature));
    let left = random.uniform() * weights.reduce((sum, w) => sum + w, 0);
    let i = 0;
    while (i < weights.length - 1 && left >= weights[i]) left -= weights[i++];
    return candidates[i];
  };
}
