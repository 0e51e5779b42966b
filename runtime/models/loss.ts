/**
 * What the backward pass starts from: one number. Axes: B batch, K classes, L length, V vocabulary.
 */
import type { ModelBuilder } from '../program/modelBuilder';
import type { Value } from '../program/value';

/** Cross-entropy of logits (B, K) against labels (B), the mean over the batch: what training minimises. */
export function classificationLoss(p: ModelBuilder, logits: Value, labels: Value): Value {
  return p.crossEntropy(logits, labels);
}

/** Cross-entropy of logits (B, L, V) against the token that follows each in input_ids (B, L). */
export function nextTokenLoss(p: ModelBuilder, logits: Value, inputIds: Value): Value {
  const L = logits.shape[1];
  const scores = p.slice(logits, 1, 0, L - 1); // (B, L - 1, V)
  const next = p.slice(inputIds, 1, 1, L); // (B, L - 1)
  return p.crossEntropy(scores, next);
}

/** The loss that the launch configuration writes over logits; `expression` appends one op for each part of it. */
export function ownLoss(p: ModelBuilder, logits: Value, expression: () => Value): Value {
  return p.module('loss', 'Loss', { logits }, () => {
    return expression();
  });
}
