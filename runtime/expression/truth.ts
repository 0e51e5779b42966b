import { formatCount } from '../../src/protocol/numbers';
import { type Comparison, deciding, type Node } from './ast';
import { ExpressionError } from './errors';
import { parseExpression } from './parser';
import { Sequence, TensorValue, type Value } from './values';

/**
 * Python's truth of a value: numbers are true unless 0, strings and sequences unless empty. `text` is the
 * expression that gave the value, for the error.
 *
 * @throws ExpressionError for a tensor of several elements or none, with what to write instead.
 */
export function truth(value: Value, text: string): boolean {
  if (value instanceof TensorValue) return truthOfTensor(value, text);
  if (value instanceof Sequence) return value.items.length > 0;
  if (typeof value === 'number') return value !== 0;
  return Boolean(value);
}

function truthOfTensor(value: TensorValue, whole: string): boolean {
  const { numel } = value.tensor;
  if (numel === 1) return value.item() !== 0;
  const root = rootOf(whole);
  const culprit = root && deciding(root);
  const text = ungrouped(culprit ? whole.slice(culprit.start, culprit.end) : whole.trim());
  const subject = asSubject(text);
  if (numel === 0)
    throw new ExpressionError(
      `\`${text}\` has no elements and no truth value; write ${subject}.numel() > 0.`,
    );
  const what = `\`${text}\` has ${formatCount(numel)} elements and no single truth value`;
  throw new ExpressionError(`${what}; write ${alternatives(text, subject)}.`, undefined, `${subject}.any()`);
}

function alternatives(text: string, subject: string): string {
  const statistic = statisticOf(text);
  return statistic ? `${subject}.any(), .all(), or ${statistic}` : `${subject}.any() or .all()`;
}

function rootOf(text: string): Node | undefined {
  try {
    return parseExpression(text).root;
  } catch {
    return undefined;
  }
}

/** The text without parentheses around all of it. */
function ungrouped(text: string): string {
  const inside = text.slice(1, -1);
  return text.startsWith('(') && text.endsWith(')') && rootOf(inside) ? ungrouped(inside.trim()) : text;
}

/** The text as something that a method can be called on. */
function asSubject(text: string): string {
  const inside = ungrouped(text);
  const root = rootOf(inside);
  return root && isPostfix(root) ? inside : `(${inside})`;
}

function isPostfix(node: Node): boolean {
  return ['name', 'attribute', 'call', 'index'].includes(node.type);
}

const STATISTICS: Partial<Record<Comparison, [ofLeft: string, ofRight: string]>> = {
  '>': ['max', 'min'],
  '>=': ['max', 'min'],
  '<': ['min', 'max'],
  '<=': ['min', 'max'],
};

/** A condition on a statistic that is often meant: `delta.max() > 0.1` for `delta > 0.1`. */
function statisticOf(text: string): string | undefined {
  const root = rootOf(text);
  if (!root) return undefined;
  if (isPostfix(root)) return `a statistic such as ${text}.absmax() > 0.1`;
  if (root.type !== 'compare' || root.operators.length !== 1) return undefined;
  const [operator] = root.operators;
  const statistics = STATISTICS[operator];
  if (!statistics) return undefined;
  const [left, right] = root.operands;
  const [a, b] = [left, right].map((node) => text.slice(node.start, node.end));
  return left.type === 'literal'
    ? `${a} ${operator} ${asSubject(b)}.${statistics[1]}()`
    : `${asSubject(a)}.${statistics[0]}() ${operator} ${b}`;
}
