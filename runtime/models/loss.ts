import type { ModelBuilder } from '../program/modelBuilder';
import type { Value } from '../program/value';

/** Cross-entropy of logits (B, K) against labels (B), the mean over the batch: what training minimises. */
export function classificationLoss(p: ModelBuilder, logits: Value, labels: Value): Value {
  return p.crossEntropy(logits, labels);
}
