import { ConfigError } from '../../models/arguments';
import { classificationLoss, nextTokenLoss } from '../../models/loss';
import type { ModelBuilder } from '../../program/modelBuilder';
import type { Value } from '../../program/value';
import type { ModelSpec } from '../modelSpec';
import type { Operand } from './expressionOps';
import { buildOwnLoss, parseLoss } from './own';

/** What the backward pass starts from, checked as far as it can be before the model is built. */
export interface LossChoice {
  /** Class of each image, for the cross-entropy. */
  readonly labels?: readonly number[];
  /** What to tell about it. */
  readonly note?: string;
  /** Appends the loss to the model. */
  build(p: ModelBuilder, logits: Value, input: Value): Value;
}

/** What a request says about the loss. */
export interface LossRequest {
  backward?: boolean;
  /** An expression over `logits`; it also turns the backward pass on. */
  loss?: string;
  label?: number;
}

/**
 * The person's own expression if there is one; else the cross-entropy, of the classes or of the next tokens.
 * Undefined without a backward pass. Throws a `ConfigError`.
 */
export function chooseLoss(
  request: LossRequest,
  { architecture }: ModelSpec,
  shape: readonly number[],
  labels: readonly number[],
): LossChoice | undefined {
  if (request.loss !== undefined) return ownLoss(request.loss, request.label);
  if (!request.backward) return undefined;
  if (architecture.kind === 'vim') {
    checkLabels(labels, architecture.config, shape[0]);
    return {
      labels,
      build: (p, logits) => classificationLoss(p, logits, p.input('labels', [shape[0]], ['B'])),
    };
  }
  if (shape[1] < 2)
    throw new ConfigError(
      '"backward" of a language model needs two tokens or more, since each predicts the next; or give a "loss".',
    );
  return { build: nextTokenLoss };
}

function ownLoss(text: string, label: number | undefined): LossChoice {
  const expression = parseLoss(text);
  const unused = label !== undefined && !expression.names().has('label');
  return {
    note: `The backward pass starts from the loss ${text.trim()}${unused ? '; the label is only shown with the result' : ''}.`,
    build: (p, logits, input) => {
      const names = new Map<string, Operand>([
        ['logits', logits],
        ['input', input],
        ...(label === undefined ? [] : [['label', label] as const]),
      ]);
      return buildOwnLoss(p, expression, logits, names);
    },
  };
}

/** A cross-entropy needs one class per image. */
function checkLabels(
  labels: readonly number[],
  { numClasses, finalPoolType }: { numClasses: number; finalPoolType: string },
  batch: number,
): void {
  if (finalPoolType === 'all')
    throw new ConfigError(
      '"backward" needs one score per class, but final_pool_type "all" gives them for each token; give a "loss".',
    );
  if (labels.length !== batch) {
    throw new ConfigError(
      `"backward" needs the class of ${batch === 1 ? 'the image' : `each of the ${batch} images`}; give "label", or "labels" in the input file, or a "loss".`,
    );
  }
  const wrong = labels.find((label) => label >= numClasses);
  if (wrong !== undefined)
    throw new ConfigError(`Label ${wrong} is not one of the ${numClasses} classes, 0 to ${numClasses - 1}.`);
}
