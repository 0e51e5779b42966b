import { formatNumber } from '../../src/protocol/numbers';
import type { Tensor } from '../tensor/tensor';

/** The last lines of a run: the most likely classes of each image of the batch, and the expected one. */
export function describeResult(
  logits: Tensor,
  labels: readonly string[],
  expected: readonly number[],
): string[] {
  if (logits.rank !== 2) return [`The model gave an output of shape [${logits.shape.join(', ')}].`];
  const lines: string[] = [];
  for (let b = 0; b < logits.shape[0]; b++) {
    const scores = Array.from({ length: logits.shape[1] }, (_, k) => logits.at(b, k));
    lines.push(describeScores(scores, labels, expected[b], logits.shape[0] > 1 ? `Image ${b}: ` : ''));
  }
  return lines;
}

function describeScores(
  scores: readonly number[],
  labels: readonly string[],
  expected: number | undefined,
  prefix: string,
): string {
  if (scores.some(Number.isNaN)) return `${prefix}The scores hold NaN, so no class can be named.`;
  const top = Math.max(...scores);
  const sum = scores.reduce((s, x) => s + Math.exp(x - top), 0);
  const ranked = scores.map((x, k) => ({ k, p: Math.exp(x - top) / sum })).sort((a, b) => b.p - a.p);
  const name = (k: number) => labels[k] ?? `class ${k}`;
  const best = ranked.slice(0, 5).map(({ k, p }) => `${name(k)} ${formatNumber(100 * p)} %`);
  const verdict =
    expected === undefined
      ? ''
      : ranked[0].k === expected
        ? ' (as labelled)'
        : ` (labelled ${name(expected)}, ranked ${1 + ranked.findIndex((r) => r.k === expected)})`;
  return `${prefix}${best.join(' · ')}${verdict}`;
}
