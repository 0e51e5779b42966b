import { describe, expect, it } from 'vitest';
import { exp } from '../../../../runtime/kernels/elementwise';
import { Tensor } from '../../../../runtime/tensor/tensor';
import { withEachBuild } from './builds';

const COUNT = 200_000;
const expOf = (values: ArrayLike<number>) => {
  const x = new Tensor(Float32Array.from(values), [values.length]);
  const y = new Tensor(new Float32Array(values.length), [values.length]);
  exp(x, y);
  return y.data;
};

/** The largest error in units in the last place over evenly spaced numbers. */
function worst(low: number, high: number): number {
  const x = Float32Array.from({ length: COUNT }, (_, i) => low + ((high - low) * i) / (COUNT - 1));
  return expOf(x).reduce((ulps, y, i) => {
    const exact = Math.exp(x[i]);
    return Math.max(ulps, Math.abs(y - exact) / 2 ** (Math.floor(Math.log2(exact)) - 23));
  }, 0);
}

describe('the SIMD exponential', () => {
  it('is within 1.2 ulp where float32 has all its digits', () => {
    withEachBuild(() => {
      for (const [low, high] of [
        [-86.9, 88.7],
        [-1, 1],
        [-1e-3, 1e-3],
      ])
        expect(worst(low, high), `between ${low} and ${high}`).toBeLessThan(1.2);
    });
  });

  it('is 1 at 0, and ends in 0, Inf and NaN', () => {
    withEachBuild(() => {
      const { NaN: nan } = Number;
      const x = [0, -0, 1e-40, -1e-40, -88, -200, -Infinity, 88.73, 200, Infinity, nan];
      expect([...expOf(x)]).toEqual([1, 1, 1, 1, 0, 0, 0, Infinity, Infinity, Infinity, nan]);
    });
  });
});
