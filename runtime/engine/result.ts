import { formatNumber } from '../../src/protocol/numbers';
import type { GradientEntry } from '../../src/protocol/requests';
import type { Tensor } from '../tensor/tensor';
import { describeNextTokens } from '../text/nextTokens';
import { gradientsOf } from './gradientHealth';
import type { Loaded } from './load';
import type { RunState } from './state';

/** The last lines of a finished run: classes of images or what could follow the tokens, loss and gradients. */
export function resultLines({ state, labels, expected, tokenizer }: Loaded): string[] {
  const [output] = Object.values(state.program.outputs);
  const answer = state.execution.tensor(output);
  const tokens = state.program.inputs['input_ids'] !== undefined;
  const lines = tokens ? describeNextTokens(answer, tokenizer) : describeResult(answer, labels, expected);
  return [...lines, ...describeGradients(state)];
}

/** The most likely classes of each image of the batch, and the expected one. */
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

/** The loss and the largest and smallest gradients, when there was a backward pass. */
function describeGradients(state: RunState): string[] {
  const { loss } = state.program.outputs;
  if (!loss) return [];
  const ranked = gradientsOf(state).sort((a, b) => b.norm - a.norm);
  const word = ({ name, norm }: GradientEntry) => `${name} ${formatNumber(norm)}`;
  const [largest, smallest] = [ranked.slice(0, 3), ranked.slice(-3).reverse()];
  return [
    `Loss ${formatNumber(state.execution.tensor(loss).at())}.`,
    `Gradient norms of ${ranked.length} parameters and inputs, largest: ${largest.map(word).join(', ')}; smallest: ${smallest.map(word).join(', ')}.`,
  ];
}
