import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  causalConv1dBackward,
  plainCausalConv1dBackward,
} from '../../../../runtime/kernels/backward/convolution';
import { causalConv1d, plainCausalConv1d } from '../../../../runtime/kernels/convolution';
import { Tensor } from '../../../../runtime/tensor/tensor';
import { expectClose, placed, placement, withEachBuild } from './builds';
import { blank, numbers } from './tensors';

const sizes = fc.tuple(
  fc.integer({ min: 1, max: 3 }),
  fc.integer({ min: 1, max: 5 }),
  fc.integer({ min: 1, max: 23 }),
  fc.oneof(fc.constant(4), fc.integer({ min: 1, max: 9 })),
);
const places = fc.tuple(placement(3), placement(3), placement(3), placement(1));

describe('the SIMD convolution', () => {
  it('is the plain one, at any size, stride, number of taps and bias', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(
          sizes,
          fc.tuple(numbers, numbers, numbers),
          places,
          fc.boolean(),
          (size, values, at, biased) => {
            const [b, d, l, taps] = size;
            const x = placed(simd, [b, d, l], values[0], at[0]);
            const y = placed(simd, [b, d, l], [], at[1]);
            const weight = placed(simd, [d, 1, taps], values[1], at[2]);
            const bias = biased ? placed(simd, [d], values[2], at[3]) : undefined;
            const expected = blank([b, d, l]);
            causalConv1d(x, weight, bias, y);
            plainCausalConv1d(x, weight, bias, expected);
            expectClose(y, expected, 2e-6);
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  it('gives the gradients of the plain one, those that are asked for', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(
          sizes,
          fc.tuple(numbers, numbers, numbers),
          fc.tuple(places, placement(3), placement(3)),
          fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
          ([b, d, l, taps], values, [at, ofDx, ofDweight], [dx, dweight, dbias]) => {
            const x = placed(simd, [b, d, l], values[0], at[0]);
            const dy = placed(simd, [b, d, l], values[1], at[1]);
            const weight = placed(simd, [d, 1, taps], values[2], at[2]);
            const g = {
              dx: dx ? placed(simd, [b, d, l], [], ofDx) : undefined,
              dweight: dweight ? placed(simd, [d, 1, taps], [], ofDweight) : undefined,
              dbias: dbias ? placed(simd, [d], [], at[3]) : undefined,
            };
            const expected = { dx: blank([b, d, l]), dweight: blank([d, 1, taps]), dbias: blank([d]) };
            causalConv1dBackward(x, weight, dy, g);
            plainCausalConv1dBackward(x, weight, dy, expected);
            for (const role of ['dx', 'dweight', 'dbias'] as const)
              if (g[role]) expectClose(g[role], expected[role], 2e-6);
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  it('passes NaN and Inf on to the steps that see them only, also those of the weight', () => {
    withEachBuild((simd) => {
      const home = { order: [0, 1, 2], flipped: [false, false, false], gap: 0, atHome: true };
      const x = placed(simd, [1, 2, 21], [1], home);
      const [y, expected] = [placed(simd, [1, 2, 21], [], home), blank([1, 2, 21])];
      x.data[9] = Number.NaN;
      const weight = new Tensor(Float32Array.of(1, 2, 3, 4, Infinity, 1, 1, 1), [2, 1, 4]);
      causalConv1d(x, weight, undefined, y);
      plainCausalConv1d(x, weight, undefined, expected);
      for (let t = 0; t < 21; t++) {
        expect(Number.isNaN(y.at(0, 0, t)), `step ${t}`).toBe(t >= 9 && t <= 12);
        expect(y.at(0, 1, t), `step ${t}`).toBe(t < 3 ? t + 1 : Infinity);
      }
      expectClose(y, expected, 0);
    });
  });
});
