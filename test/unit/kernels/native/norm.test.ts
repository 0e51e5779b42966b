import fc from 'fast-check';
import { describe, it } from 'vitest';
import {
  layerNormBackward,
  plainNormBackward,
  rmsNormBackward,
} from '../../../../runtime/kernels/backward/norm';
import { plainRopeBackward, ropeBackward } from '../../../../runtime/kernels/backward/rope';
import { layerNorm, plainLayerNorm, plainRmsNorm, rmsNorm } from '../../../../runtime/kernels/norm';
import { plainRope, rope } from '../../../../runtime/kernels/rope';
import { Tensor } from '../../../../runtime/tensor/tensor';
import { anyFloat, expectClose, placed, placement, withEachBuild } from './builds';
import { anyShape, blank, numbers } from './tensors';

const values = fc.array(anyFloat, { minLength: 1 });
/** A float32, as the kernels are given it. */
const EPS = Math.fround(1e-5);

describe('the SIMD norms', () => {
  it.each([
    ['rms_norm', rmsNorm, plainRmsNorm],
    ['layer_norm', layerNorm, plainLayerNorm],
  ] as const)('%s is the plain one at any width and magnitude', (_, run, plain) => {
    withEachBuild((simd) => {
      const places = fc.tuple(placement(3), placement(3), placement(1), placement(1));
      fc.assert(
        fc.property(
          anyShape,
          fc.tuple(values, numbers, numbers),
          places,
          fc.boolean(),
          (shape, v, p, biased) => {
            const [x, y] = [placed(simd, shape, v[0], p[0]), placed(simd, shape, [], p[1])];
            const weight = placed(simd, [shape[2]], v[1], p[2]);
            const bias = biased ? placed(simd, [shape[2]], v[2], p[3]) : undefined;
            const expected = blank(shape);
            run(x, weight, bias, EPS, y);
            plain(x, weight, bias, EPS, expected);
            expectClose(y, expected, 2e-7);
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  it.each([
    ['rms_norm', rmsNormBackward, false],
    ['layer_norm', layerNormBackward, true],
  ] as const)('%s has the gradients of the plain one, those that are asked for', (_, run, centered) => {
    withEachBuild((simd) => {
      const places = fc.tuple(placement(3), placement(3), placement(3), placement(1), placement(1));
      const needed = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean());
      fc.assert(
        fc.property(
          anyShape,
          fc.tuple(numbers, numbers, numbers),
          places,
          needed,
          (shape, v, p, [dx, dw, db]) => {
            const [x, dy] = [placed(simd, shape, v[0], p[0]), placed(simd, shape, v[1], p[1])];
            const weight = placed(simd, [shape[2]], v[2], p[3]);
            const g = {
              dx: dx ? placed(simd, shape, [], p[2]) : undefined,
              dweight: dw ? placed(simd, [shape[2]], [], p[3]) : undefined,
              dbias: db ? placed(simd, [shape[2]], [], p[4]) : undefined,
            };
            const expected = { dx: blank(shape), dweight: blank([shape[2]]), dbias: blank([shape[2]]) };
            run(x, weight, dy, EPS, g);
            plainNormBackward({ x, weight, eps: EPS, centered }, dy, expected);
            for (const role of ['dx', 'dweight', 'dbias'] as const)
              if (g[role]) expectClose(g[role], expected[role], 1e-6);
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  it('sums over more rows than are kept together', () => {
    withEachBuild((simd) => {
      const home = { order: [0, 1, 2], flipped: [false, false, false], gap: 0, atHome: true };
      const waves = Float32Array.from({ length: 997 }, (_, i) => Math.sin(i));
      const [x, dy] = [
        placed(simd, [3, 67, 9], waves, home),
        placed(simd, [3, 67, 9], waves.toReversed(), home),
      ];
      const weight = new Tensor(waves.subarray(0, 9), [9]);
      const g = { dx: blank(x.shape), dweight: blank([9]), dbias: blank([9]) };
      const expected = { dx: blank(x.shape), dweight: blank([9]), dbias: blank([9]) };
      layerNormBackward(x, weight, dy, EPS, g);
      plainNormBackward({ x, weight, eps: EPS, centered: true }, dy, expected);
      for (const role of ['dx', 'dweight', 'dbias'] as const) expectClose(g[role], expected[role], 2e-7);
    });
  });
});

describe('the SIMD rotation', () => {
  const sizes = fc.tuple(
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 1, max: 7 }),
    fc.integer({ min: 1, max: 9 }),
  );
  const places = fc.tuple(placement(3), placement(3), placement(2), placement(2));

  it('and its gradient are the plain ones on any views', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(sizes, fc.tuple(numbers, numbers, numbers), places, ([b, m, half], v, p) => {
          const shape = [b, m, 2 * half];
          const [x, y] = [placed(simd, shape, v[0], p[0]), placed(simd, shape, [], p[1])];
          const cos = placed(simd, [m - (m % 2), 2 * half], v[1], p[2]);
          const sin = placed(simd, [m - (m % 2), 2 * half], v[2], p[3]);
          const expected = blank(shape);
          rope(x, cos, sin, y);
          plainRope(x, cos, sin, expected);
          expectClose(y, expected, 1e-6);
          ropeBackward(cos, sin, x, y);
          plainRopeBackward(cos, sin, x, expected);
          expectClose(y, expected, 1e-6);
        }),
        { numRuns: 300 },
      );
    });
  });
});
