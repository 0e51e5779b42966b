import { crossEntropyBackward, crossEntropy as crossEntropyOf } from '../../kernels/backward/crossEntropy';
import { type OpKind, requireShape, shapeText } from '../op';

/** logits (..., K) and labels (...), whole numbers below K -> one number, the mean cross-entropy. */
export const crossEntropy: OpKind = {
  name: 'cross_entropy',
  infer: ({ logits, labels }) => {
    requireShape(shapeText(labels.shape) === shapeText(logits.shape.slice(0, -1)), () => {
      return `cross_entropy of logits ${shapeText(logits.shape)} takes labels ${shapeText(logits.shape.slice(0, -1))} but got ${shapeText(labels.shape)}`;
    });
    return { y: { shape: [] } };
  },
  run: ({ logits, labels }, { y }) => crossEntropyOf(logits, labels, y),
  backward: {
    reads: ['logits', 'labels'],
    constant: ['labels'],
    run: ({ logits, labels, dy }, { dlogits }) => crossEntropyBackward(logits, labels, dy, dlogits),
  },
};
