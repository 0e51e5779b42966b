import { formatCount, formatElement, formatNumber } from '../../src/protocol/numbers';
import { type CompareNode, type Expression, freeNames, type Node } from './ast';
import { evaluateNode } from './evaluate';
import { formatValue } from './format';
import { countNonZero } from './statistics';
import { truth } from './truth';
import { type Scope, scalarOf, TensorValue, type Value } from './values';

/**
 * For a condition that held: the numbers that made it so, e.g. `delta.max() = 0.42 > 0.1`. Parts that only
 * compare plain names such as `layer` are left out; the text itself when nothing else is left. Never throws.
 */
export function describeComparison(expression: Expression, scope: Scope): string {
  try {
    return new Description(expression, scope).of(expression.root) ?? expression.text.trim();
  } catch {
    return expression.text.trim();
  }
}

/** Ways to write a number, each more exact than the one before. */
const FORMATS = [formatNumber, formatElement, String];

class Description {
  constructor(
    private readonly expression: Expression,
    private readonly scope: Scope,
  ) {}

  /** What a node that is true says, or nothing. */
  of(node: Node): string | undefined {
    if (node.type === 'logic' && node.operator === 'and') {
      const parts = node.terms.map((term) => this.of(term)).filter((part) => part !== undefined);
      return parts.length ? parts.join(' and ') : undefined;
    }
    if (node.type === 'logic') {
      const held = node.terms.find((term) => truth(this.value(term), this.source(term)));
      return held && this.of(held);
    }
    if (!this.usesTensor(node)) return undefined;
    if (node.type === 'compare') return this.comparison(node);
    return this.single(node);
  }

  /** `a = 1 < b = 2 < 3`: each operand that is not written as a number is followed by its value. */
  private comparison(node: CompareNode): string {
    if (saysItself(node)) return this.source(node);
    const values = node.operands.map((operand) => this.value(operand));
    const format = FORMATS.find((f) => tellsApart(values, f)) ?? String;
    const words = node.operands.map((operand, i) => {
      const text = this.source(operand);
      return isLiteral(operand) ? text : `${text} = ${formatWith(values[i], format)}`;
    });
    return words.map((word, i) => (i === 0 ? word : `${node.operators[i - 1]} ${word}`)).join(' ');
  }

  private single(node: Node): string {
    const text = this.source(node);
    const share = this.share(node.type === 'unary' && node.operator === 'not' ? node.operand : node);
    if (share) return `${text} (${share})`;
    const value = this.value(node);
    const isTruth = typeof value === 'boolean' || (value instanceof TensorValue && value.kind === 'bool');
    return isTruth ? text : `${text} = ${formatValue(value)}`;
  }

  /** How many elements made `x.any()` true or `x.all()` false. */
  private share(node: Node): string | undefined {
    if (node.type !== 'call' || node.callee.type !== 'attribute') return undefined;
    const { name, object } = node.callee;
    if ((name !== 'any' && name !== 'all') || node.positional.length + node.named.length > 0)
      return undefined;
    const value = this.value(object);
    if (!(value instanceof TensorValue)) return undefined;
    const { numel } = value.tensor;
    const held = countNonZero(value.tensor);
    if (name === 'any') return `${formatCount(held)} of ${formatCount(numel)}`;
    return held < numel ? `all but ${formatCount(numel - held)} of ${formatCount(numel)}` : undefined;
  }

  private usesTensor(node: Node): boolean {
    return freeNames(node).some(({ name }) => this.scope.get(name) instanceof TensorValue);
  }

  private value(node: Node): Value {
    return evaluateNode(this.expression, node, this.scope);
  }

  private source(node: Node): string {
    return this.expression.source(node);
  }
}

/** Whether numbers that differ are written differently, so that `0.1 > 0.1` is never said. */
function tellsApart(values: readonly Value[], format: (x: number) => string): boolean {
  const numbers = [...new Set(values.map(scalarOf).filter((x) => x !== undefined))];
  return new Set(numbers.map(format)).size === numbers.length;
}

function formatWith(value: Value, format: (x: number) => string): string {
  const isPlain = typeof value === 'boolean' || (value instanceof TensorValue && value.kind === 'bool');
  const x = isPlain ? undefined : scalarOf(value);
  if (x === undefined) return formatValue(value);
  const text = formatValue(value);
  return format === formatNumber || Number(text.replaceAll(',', '')) === x ? text : format(x);
}

/** `x.shape[1] == 384` held, so that both values are known. */
function saysItself(node: CompareNode): boolean {
  return node.operators.length === 1 && node.operators[0] === '==' && node.operands.some(isLiteral);
}

function isLiteral(node: Node): boolean {
  if (node.type === 'literal') return true;
  if (node.type === 'unary') return isLiteral(node.operand);
  return node.type === 'sequence' && node.items.every(isLiteral);
}
