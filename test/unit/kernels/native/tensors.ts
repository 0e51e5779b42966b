import fc from 'fast-check';
import { numel, Tensor } from '../../../../runtime/tensor/tensor';

/** Plain numbers, to fill tensors with. */
export const numbers = fc.array(fc.float({ min: -2, max: 2, noNaN: true }), { minLength: 1, maxLength: 67 });

/** Three axes, sometimes with rows of more than 1024 elements, which kernels cut into pieces. */
export const anyShape = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 19 }),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constant(1), fc.constant(2), fc.integer({ min: 1020, max: 2100 })) },
);

/** A contiguous tensor that no kernel's memory holds. */
export function blank(shape: readonly number[]): Tensor {
  return new Tensor(new Float32Array(numel(shape)).fill(Number.NaN), shape);
}
