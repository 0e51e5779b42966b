import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainSiluOf, plainSoftplusOf, siluOf, softplusOf } from '../../../../runtime/kernels/activation';
import {
  plainSiluBackward,
  plainSoftplusBackward,
  siluBackward,
  softplusBackward,
} from '../../../../runtime/kernels/backward/activation';
import { exp, map } from '../../../../runtime/kernels/elementwise';
import { Tensor } from '../../../../runtime/tensor/tensor';
import { anyFloat, expectClose, placed, placement, withEachBuild } from './builds';
import { anyShape, blank } from './tensors';

type Unary = (x: Tensor, y: Tensor) => void;
type Gradient = (x: Tensor, dy: Tensor, dx: Tensor) => void;

/** e^x is below 2^-125, where the kernels give 0. */
const SMALL = 2 ** -125;

const cases: [string, Unary, Unary][] = [
  ['silu', siluOf, plainSiluOf],
  ['softplus', softplusOf, plainSoftplusOf],
  ['exp', exp, (x, y) => map(x, y, Math.exp)],
];
const gradients: [string, Gradient, Gradient][] = [
  ['silu', siluBackward, plainSiluBackward],
  ['softplus', softplusBackward, plainSoftplusBackward],
];

/** Many numbers between two bounds, and the special ones. */
function sweep(low: number, high: number): Float32Array {
  const even = Array.from({ length: 40001 }, (_, i) => low + ((high - low) * i) / 40000);
  return Float32Array.from([
    ...even,
    0,
    -0,
    1e-40,
    -1e-40,
    1e-30,
    -1e-30,
    20,
    Number.NaN,
    Infinity,
    -Infinity,
  ]);
}

/** The largest distance in units in the last place of what is expected; NaN and Inf must be the same. */
function ulps(actual: Tensor, expected: Tensor): number {
  let worst = 0;
  expected.data.forEach((e, i) => {
    const a = actual.data[i];
    if (Object.is(a, e) || a === e || Math.max(Math.abs(a), Math.abs(e)) <= SMALL) return;
    const ulp = 2 ** (Math.floor(Math.log2(Math.abs(e))) - 23);
    const distance = Math.abs(a - e) / ulp;
    if (!(distance <= worst)) worst = Number.isNaN(distance) ? Infinity : distance;
  });
  return worst;
}

describe('the SIMD activations', () => {
  it.each(cases)('%s is the plain one on any view', (_, run, plain) => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(
          anyShape,
          fc.array(anyFloat, { minLength: 1 }),
          placement(3),
          placement(3),
          (shape, xs, ofX, ofY) => {
            const [x, y] = [placed(simd, shape, xs, ofX), placed(simd, shape, [], ofY)];
            const expected = blank(shape);
            run(x, y);
            plain(x, expected);
            expectClose(y, expected, 4e-7);
          },
        ),
        { numRuns: 200 },
      );
    });
  });

  it.each(gradients)('the gradient of %s is the plain one on any view', (_, run, plain) => {
    withEachBuild((simd) => {
      const values = fc.array(anyFloat, { minLength: 1 });
      const places = fc.tuple(placement(3), placement(3), placement(3));
      fc.assert(
        fc.property(anyShape, values, values, places, (shape, xs, dys, [ofX, ofDy, ofDx]) => {
          const [x, dy] = [placed(simd, shape, xs, ofX), placed(simd, shape, dys, ofDy)];
          const [dx, expected] = [placed(simd, shape, [], ofDx), blank(shape)];
          run(x, dy, dx);
          plain(x, dy, expected);
          expectClose(dx, expected, 2e-6);
        }),
        { numRuns: 200 },
      );
    });
  });

  it.each([
    { low: -86, high: 88, silu: 3, softplus: 3, exp: 2 },
    { low: -1, high: 1, silu: 3, softplus: 4, exp: 2 },
  ])('are within a few ulp from $low to $high', ({ low, high, ...bounds }) => {
    withEachBuild(() => {
      const values = sweep(low, high);
      const x = new Tensor(values, [values.length]);
      for (const [name, run, plain] of cases) {
        const [y, expected] = [blank(x.shape), blank(x.shape)];
        run(x, y);
        plain(x, expected);
        expect(ulps(y, expected), name).toBeLessThan(bounds[name as keyof typeof bounds]);
      }
    });
  });

  it('softplus is x itself above 20', () => {
    withEachBuild(() => {
      const x = new Tensor(
        Float32Array.from({ length: 1001 }, (_, i) => 20 + i),
        [1001],
      );
      const y = blank([1001]);
      softplusOf(x, y);
      expect(y.data).toEqual(x.data);
    });
  });
});
