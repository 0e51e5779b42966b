/** How shapes and summaries are cut into the pieces that a row shows. No DOM. */
import { formatCount, formatNumber, formatShare } from '../../src/protocol/numbers';
import type { TensorEntry } from '../../src/protocol/requests';
import { describeAnomalies, formatSummary, nonFinite, type Summary } from '../../src/protocol/summary';

/** One axis of a shape; `name` is empty where nobody knows it. */
export interface Dimension {
  name: string;
  size: number;
}

export function dimensions(shape: readonly number[], axes: readonly string[]): Dimension[] {
  return shape.map((size, axis) => ({ name: axes[axis] ?? '', size }));
}

/** An axis for a label: its name, or `axis 1`. */
export function axisName(axes: readonly string[], axis: number): string {
  return axes[axis] || `axis ${axis}`;
}

/** What the statistics of a summary come down to. */
export type Spread =
  | { kind: 'unknown' }
  | { kind: 'empty' }
  /** Not one finite element. */
  | { kind: 'none' }
  | { kind: 'single'; value: string }
  | { kind: 'flat'; value: string }
  | { kind: 'range'; min: string; max: string; mean: string; std: string };

export function spreadOf(summary: Summary | null): Spread {
  if (!summary) return { kind: 'unknown' };
  if (summary.numel === 0) return { kind: 'empty' };
  const { min, max, mean, std } = summary;
  if (min === null || max === null) return { kind: 'none' };
  if (summary.numel === 1) return { kind: 'single', value: formatNumber(min) };
  if (min === max) return { kind: 'flat', value: formatNumber(min) };
  return {
    kind: 'range',
    min: formatNumber(min),
    max: formatNumber(max),
    mean: formatNumber(mean ?? Number.NaN),
    std: formatNumber(std ?? Number.NaN),
  };
}

/** A small label behind a tensor. `nan` and `inf` have their own colour and pattern. */
export interface Badge {
  kind: 'nan' | 'inf' | 'note';
  text: string;
  /** The whole of it, for the tooltip. */
  title: string;
}

/** What must not be overlooked first, then what differs from the defaults (float32, cpu, contiguous). */
export function badgesOf(summary: Summary | null): Badge[] {
  if (!summary) return [];
  const badges: Badge[] = [];
  const count = (kind: 'nan' | 'inf', n: number, word: string) => {
    if (n > 0)
      badges.push({ kind, text: `${word} ${formatCount(n)}`, title: formatShare(n, summary.numel, word) });
  };
  count('nan', summary.nan, 'NaN');
  if (summary.posInf > 0 && summary.negInf > 0) {
    const both = summary.posInf + summary.negInf;
    const title = [
      formatShare(summary.posInf, summary.numel, '+Inf'),
      formatShare(summary.negInf, summary.numel, '-Inf'),
    ];
    badges.push({ kind: 'inf', text: `±Inf ${formatCount(both)}`, title: title.join('; ') });
  } else count('inf', summary.posInf + summary.negInf, summary.posInf > 0 ? '+Inf' : '-Inf');
  if (summary.dtype !== 'float32') badges.push(note(summary.dtype, `Elements are ${summary.dtype}`));
  if (summary.device !== 'cpu') badges.push(note(summary.device, `Lives on ${summary.device}`));
  if (!summary.contiguous && summary.numel > 0) badges.push(note('strided', strideWords(summary)));
  return badges;
}

function note(text: string, title: string): Badge {
  return { kind: 'note', text, title };
}

function strideWords(summary: Summary): string {
  return `Not contiguous: strides (${summary.strides.join(', ')})`;
}

/** The one-line form with its name, as it is copied and read out. */
export function lineOf(entry: TensorEntry): string {
  return entry.summary ? `${entry.name} ${formatSummary(entry.summary)}` : `${entry.name} (not summarised)`;
}

export function isAnomalous(entry: TensorEntry): boolean {
  return entry.summary !== null && nonFinite(entry.summary) > 0;
}

/** A name's leading path, which may be cut, and its last part, which must be read: `layers.0.mixer.` `A_log`. */
export function splitName(name: string): [path: string, leaf: string] {
  const parts = name.split('.');
  const tail = parts.at(-1) === 'weight' || parts.at(-1) === 'bias' ? 2 : 1;
  const cut = Math.max(0, parts.length - tail);
  return [cut > 0 ? `${parts.slice(0, cut).join('.')}.` : '', parts.slice(cut).join('.')];
}

/** Named numbers of the detail's table; what is zero and dull is left out. */
export function factsOf(summary: Summary): [name: string, value: string][] {
  const facts: [string, string][] = [];
  const spread = spreadOf(summary);
  if (spread.kind === 'range') {
    facts.push(['min', spread.min], ['max', spread.max], ['mean μ', spread.mean], ['std σ', spread.std]);
  }
  if (summary.absmax !== null && summary.numel > 1) facts.push(['absmax', formatNumber(summary.absmax)]);
  facts.push(['values', formatCount(summary.numel)]);
  if (summary.nan > 0) facts.push(['NaN', countAndShare(summary.nan, summary.numel)]);
  if (summary.posInf > 0) facts.push(['+Inf', countAndShare(summary.posInf, summary.numel)]);
  if (summary.negInf > 0) facts.push(['-Inf', countAndShare(summary.negInf, summary.numel)]);
  if (summary.zeros > 0) facts.push(['zeros', countAndShare(summary.zeros, summary.numel)]);
  return facts;
}

/** `12 · 0.02 %` */
export function countAndShare(count: number, total: number): string {
  return total > 0 ? `${formatCount(count)} · ${formatNumber((100 * count) / total)} %` : formatCount(count);
}

/** Everything unusual about a tensor in words, for screen readers; empty when nothing is. */
export function anomalyWords(summary: Summary | null): string {
  return summary ? describeAnomalies(summary).join(', ') : '';
}
