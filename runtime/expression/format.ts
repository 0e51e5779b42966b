import { formatCount, formatNumber } from '../../src/protocol/numbers';
import { formatSummary } from '../../src/protocol/summary';
import { summarize } from '../kernels/summary';
import { type Sequence, TensorValue, type Value } from './values';

/** Whole numbers up to here are counts, which are written out; larger ones are measures. */
const MAX_COUNT = 1e9;

/**
 * A value in one line: numbers as everywhere in Scanpoint, True and None as in Python, strings in quotes, a
 * tensor of several elements by its summary.
 */
export function formatValue(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return formatPlainNumber(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof TensorValue) return formatTensor(value);
  return formatSequence(value);
}

/** As `formatValue`, but a string stands for itself: what a log message shows for `{direction}`. */
export function formatForLog(value: Value): string {
  return typeof value === 'string' ? value : formatValue(value);
}

function formatPlainNumber(x: number): string {
  return Number.isInteger(x) && Math.abs(x) <= MAX_COUNT ? formatCount(x + 0) : formatNumber(x);
}

function formatTensor(value: TensorValue): string {
  const { tensor, kind } = value;
  if (tensor.rank > 0) return formatSummary(summarize(tensor));
  const x = value.item();
  if (kind === 'bool') return x ? 'True' : 'False';
  return kind === 'int' ? formatPlainNumber(x) : formatNumber(x);
}

function formatSequence({ kind, items }: Sequence): string {
  const text = items.map(formatItem).join(', ');
  if (kind === 'list') return `[${text}]`;
  return items.length === 1 ? `(${text},)` : `(${text})`;
}

/** Thousands separators would read as further items. */
function formatItem(item: Value): string {
  return typeof item === 'number' && Number.isInteger(item) ? String(item) : formatValue(item);
}
