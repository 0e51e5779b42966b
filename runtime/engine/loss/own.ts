import { type Expression, ExpressionError, parseExpression } from '../../expression';
import { ConfigError } from '../../models/arguments';
import { ownLoss } from '../../models/loss';
import type { ModelBuilder } from '../../program/modelBuilder';
import { ShapeError, shapeText } from '../../program/op';
import { Value } from '../../program/value';
import { numel } from '../../tensor/tensor';
import { compileExpression, type Operand } from './expressionOps';

/** Reads a loss such as `logits[0, 3]`. Throws a `ConfigError`. */
export function parseLoss(text: string): Expression {
  const expression = parsed(text);
  if (expression.names().has('logits')) return expression;
  throw new ConfigError(`The loss "${text}" does not use logits, so the model has no gradients of it.`);
}

function parsed(text: string): Expression {
  try {
    return parseExpression(text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new ConfigError(`The loss "${text}" is not understood: ${error.message}`);
  }
}

/** Appends a loss as a person writes it. Throws a `ConfigError` when it has no gradient or is not one number. */
export function buildOwnLoss(
  p: ModelBuilder,
  expression: Expression,
  logits: Value,
  names: ReadonlyMap<string, Operand>,
): Value {
  const loss = ownLoss(p, logits, () => compiled(p, expression, names));
  if (numel(loss.shape) === 1) return loss;
  throw wrongLoss(
    expression,
    `it gives a tensor of shape ${shapeText(loss.shape)}, not one number; end it with .sum() or .mean(), or index one element`,
  );
}

function compiled(p: ModelBuilder, expression: Expression, names: ReadonlyMap<string, Operand>): Value {
  try {
    const loss = compileExpression(p, expression, names);
    if (loss instanceof Value) return loss;
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof ShapeError)
      throw wrongLoss(expression, error.message.replace(/\.$/, ''));
    throw error;
  }
  throw wrongLoss(expression, 'no tensor of the model is in it, so it has no gradient');
}

function wrongLoss({ text }: Expression, problem: string): ConfigError {
  return new ConfigError(`The loss "${text}" cannot be used: ${problem}.`);
}
