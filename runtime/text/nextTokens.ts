import { formatNumber } from '../../src/protocol/numbers';
import type { Tensor } from '../tensor/tensor';
import type { Tokenizer } from './tokenizer';

const SHOWN = 5;

/** A line for each sequence: the likeliest tokens after its last one. logits (B, L, V). */
export function describeNextTokens(logits: Tensor, tokenizer?: Tokenizer): string[] {
  const [batch, length, vocabulary] = logits.shape;
  const name = (id: number) => (tokenizer ? JSON.stringify(tokenizer.decode([id])) : `token ${id}`);
  return Array.from({ length: batch }, (_, b) => {
    const scores = Float32Array.from({ length: vocabulary }, (_, k) => logits.at(b, length - 1, k));
    return `${batch > 1 ? `Sequence ${b}: ` : ''}${describeScores(scores, name)}`;
  });
}

function describeScores(scores: Float32Array, name: (id: number) => string): string {
  if (scores.some(Number.isNaN)) return 'the scores hold NaN, so no next token can be named.';
  const best = ranked(scores, SHOWN);
  const sum = scores.reduce((s, x) => s + Math.exp(x - scores[best[0]]), 0);
  const percent = (id: number) => (100 * Math.exp(scores[id] - scores[best[0]])) / sum;
  return `next ${best.map((id) => `${name(id)} ${formatNumber(percent(id))} %`).join(' · ')}`;
}

/** The `count` tokens with the largest scores, likeliest first. */
export function ranked(scores: Float32Array, count: number): number[] {
  const order = Array.from(scores, (_, k) => k).sort((a, b) => scores[b] - scores[a]);
  return order.slice(0, count);
}
