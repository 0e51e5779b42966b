import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  crossEntropy,
  crossEntropyBackward,
  plainCrossEntropy,
  plainCrossEntropyBackward,
} from '../../../../runtime/kernels/backward/crossEntropy';
import { Tensor } from '../../../../runtime/tensor/tensor';
import { expectClose, placed, placement, withEachBuild } from './builds';
import { anyShape, blank } from './tensors';

const logit = fc.oneof(
  { weight: 30, arbitrary: fc.float({ min: -30, max: 30, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(1e30, -1e30, Number.NaN, Infinity, -Infinity) },
);

describe('the SIMD cross-entropy', () => {
  it('and its gradient are the plain ones, for any number of axes and on any view', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(
          anyShape,
          fc.array(logit, { minLength: 1, maxLength: 60 }),
          fc.array(fc.nat(1000), { minLength: 1 }),
          fc.tuple(placement(3), placement(3), fc.nat(2)),
          (shape, xs, ids, [ofX, ofDx, dropped]) => {
            const ones = shape.map((size, axis) => (axis < dropped ? 1 : size));
            const drop = (t: Tensor) =>
              t.with({
                shape: t.shape.slice(dropped),
                strides: t.strides.slice(dropped),
                offset: t.offset,
              });
            const logits = drop(placed(simd, ones, xs, ofX));
            const classes = shape[2];
            const labels = blank(logits.shape.slice(0, -1));
            for (let i = 0; i < labels.data.length; i++) labels.data[i] = ids[i % ids.length] % classes;
            const [loss, expectedLoss] = [blank([]), blank([])];
            crossEntropy(logits, labels, loss);
            plainCrossEntropy(logits, labels, expectedLoss);
            expectClose(loss, expectedLoss, 5e-7);
            const [dx, expected] = [drop(placed(simd, ones, [], ofDx)), blank(logits.shape)];
            crossEntropyBackward(logits, labels, Tensor.scalar(0.7), dx);
            plainCrossEntropyBackward(logits, labels, Tensor.scalar(0.7), expected);
            expectClose(dx, expected, 5e-7);
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  it('takes logits of more axes, and names a label that is not a class', () => {
    withEachBuild(() => {
      const logits = new Tensor(
        Float32Array.from({ length: 16 }, (_, i) => i),
        [2, 2, 2, 2],
      );
      const [loss, expected] = [blank([]), blank([])];
      const labels = new Tensor(new Float32Array(8), [2, 2, 2]);
      crossEntropy(logits, labels, loss);
      plainCrossEntropy(logits, labels, expected);
      expectClose(loss, expected, 0);
      const wrong = new Tensor(Float32Array.of(2), [1]);
      const row = new Tensor(new Float32Array(2), [1, 2]);
      expect(() => crossEntropy(row, wrong, loss)).toThrow('Label 2 is not one of the 2 classes, 0 to 1.');
    });
  });
});
