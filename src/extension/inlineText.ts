/** What stands behind a line of code for a tensor that it names. No vscode. */
import { formatNumber } from '../protocol/numbers';
import { describeAnomalies, formatSummary, type Summary } from '../protocol/summary';

/**
 * The one-line form where a name has the line for itself; less where several share it, since the editor cuts
 * long lines and the last name matters as much as the first. What is wrong is said in every form.
 */
export function inlineText(name: string, summary: Summary, namesOnLine: number): string {
  if (namesOnLine <= 1) return `${name}: ${formatSummary(summary)}`;
  const parts = [`${name}: [${summary.shape.join(', ')}]`];
  if (namesOnLine <= 3) parts.push(...rangeOf(summary));
  const text = parts.join(' ');
  const anomalies = describeAnomalies({ ...summary, contiguous: true });
  return anomalies.length > 0 ? `${text} · ${anomalies.join(' · ')}` : text;
}

function rangeOf({ min, max, numel }: Summary): string[] {
  if (min === null || max === null) return [];
  if (min === max) return [numel === 1 ? `= ${formatNumber(min)}` : `all ${formatNumber(min)}`];
  return [`∈ [${formatNumber(min)}, ${formatNumber(max)}]`];
}
