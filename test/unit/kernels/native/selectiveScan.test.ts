import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainSelectiveScan, selectiveScan } from '../../../../runtime/kernels/selectiveScan';
import { placed, placement, withEachBuild } from './builds';
import { inputsOf, kindOf, like, magnitudes, type Name, poison, recipe } from './scans';

describe('the SIMD selective scan', () => {
  it('is the plain one to float32, at any size and stride', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(recipe, placement(3), (r, ofY) => {
          const s = inputsOf(simd, r);
          const y = placed(simd, s.u.shape, [7], ofY);
          const [expected, sizes] = [like(s.u), like(s.u)];
          selectiveScan(s, y);
          plainSelectiveScan(s, expected);
          plainSelectiveScan(magnitudes(s), sizes);
          y.toArray().forEach((value, k) => {
            const error = Math.abs(value - expected.data[k]);
            // 1e-30 is for what is left of a decay below 2^-125, which is 0 here.
            expect(error, `element [${y.indexOf(k)}]`).toBeLessThanOrEqual(1e-5 * sizes.data[k] + 1e-30);
          });
        }),
        { numRuns: 300 },
      );
    });
  });

  it('has NaN and Inf where the plain one has them', () => {
    const names: Name[] = ['u', 'delta', 'A', 'B', 'C', 'D', 'z'];
    withEachBuild((simd) => {
      fc.assert(
        fc.property(
          recipe,
          fc.constantFrom(...names),
          fc.nat(),
          fc.constantFrom(Number.NaN, Infinity, -Infinity),
          (r, name, k, value) => {
            const s = inputsOf(simd, { ...r, reach: 0.1 });
            if (s[name]) poison(s[name], k, value);
            const [y, expected] = [like(s.u), like(s.u)];
            selectiveScan(s, y);
            plainSelectiveScan(s, expected);
            expect([...y.data].map(kindOf)).toEqual([...expected.data].map(kindOf));
          },
        ),
        { numRuns: 400 },
      );
    });
  });
});
