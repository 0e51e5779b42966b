/** What the scores of the next token say. */
import { exp } from '../kernels/exp';

/** The `count` tokens with the largest scores, likeliest first; of equal ones the first. */
export function ranked(scores: Float32Array, count: number): number[] {
  const best: number[] = [];
  const most = Math.min(count, scores.length);
  for (let k = 0; k < scores.length && most > 0; k++) {
    if (best.length === most && !(scores[k] > scores[best[most - 1]])) continue;
    if (best.length === most) best.pop();
    best.splice(placeFor(scores[k], best, scores), 0, k);
  }
  return best;
}

/** Where a score belongs among those of `best`, which fall: behind all that are not less. */
function placeFor(score: number, best: readonly number[], scores: Float32Array): number {
  let [from, to] = [0, best.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (scores[best[middle]] >= score) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The probability of each token by its id; undefined when the scores hold NaN or Inf and give none. */
export function probabilities(scores: Float32Array): ((id: number) => number) | undefined {
  let top = -Infinity;
  for (let k = 0; k < scores.length; k++) if (scores[k] > top) top = scores[k];
  let sum = 0;
  for (let k = 0; k < scores.length; k++) sum += exp(scores[k] - top);
  return Number.isNaN(sum) ? undefined : (id) => exp(scores[id] - top) / sum;
}
