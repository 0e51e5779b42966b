import { formatNumber } from '../../src/protocol/numbers';
import type { Tensor } from '../tensor/tensor';
import { probabilities, ranked } from './scores';
import type { Tokenizer } from './tokenizer';

const SHOWN = 5;

/** A line for each sequence: the likeliest tokens after its last one. logits (B, L, V). */
export function describeNextTokens(logits: Tensor, tokenizer?: Tokenizer): string[] {
  const [batch, length, vocabulary] = logits.shape;
  return Array.from({ length: batch }, (_, b) => {
    const scores = Float32Array.from({ length: vocabulary }, (_, k) => logits.at(b, length - 1, k));
    return `${batch > 1 ? `Sequence ${b}: ` : ''}${describeScores(scores, tokenizer)}`;
  });
}

function describeScores(scores: Float32Array, tokenizer: Tokenizer | undefined): string {
  const probability = probabilities(scores);
  if (!probability) {
    const what = scores.some(Number.isNaN) ? 'NaN' : 'Inf';
    return `the scores hold ${what}, so no next token can be named.`;
  }
  const best = ranked(scores, SHOWN);
  return `next ${best.map((id) => tokenWithShare(id, probability(id), tokenizer)).join(' · ')}`;
}

/** `" the" 62.1 %`, or `token 12 62.1 %` without a tokenizer. */
export function tokenWithShare(id: number, probability: number, tokenizer: Tokenizer | undefined): string {
  const name = tokenizer ? JSON.stringify(tokenizer.decode([id])) : `token ${id}`;
  return `${name} ${formatNumber(100 * probability)} %`;
}
