import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linear, plainLinear } from '../../../../runtime/kernels/linear';
import { native, useNative } from '../../../../runtime/kernels/native';
import { Tensor, view } from '../../../../runtime/tensor/tensor';
import { expectClose, placed, placement, withEachBuild } from './builds';

const numbers = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 97 });
const zeros = (shape: number[]) => new Tensor(new Float32Array(shape.reduce((a, b) => a * b, 1)), shape);

describe('the SIMD product', () => {
  it('is the plain one to float32, at any size, stride and bias', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(
          fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(40), fc.nat(40), fc.nat(70)),
          fc.tuple(numbers, numbers, numbers, fc.boolean()),
          fc.tuple(placement(3), placement(2), placement(1), fc.boolean()),
          ([b, m, n, k], [xs, ws, biases, biased], [ofX, ofW, ofBias, turned]) => {
            const x = placed(simd, [b, m + 1, k + 1], xs, ofX);
            const w = placed(simd, [n + 1, k + 1], ws, ofW);
            const bias = biased ? placed(simd, [n + 1], biases, ofBias) : undefined;
            const made = zeros(turned ? [b, n + 1, m + 1] : [b, m + 1, n + 1]);
            const y = turned ? made.with(view.transpose(made, 1, 2)) : made;
            const expected = zeros([b, m + 1, n + 1]);
            linear(x, w, bias, y);
            plainLinear(x, w, bias, expected);
            expectClose(y, expected, 2e-5);
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  it('sums over more than one block of rows', () => {
    withEachBuild(() => {
      const values = Float32Array.from({ length: 13 * 1300 }, (_, i) => Math.sin(i));
      const [x, w] = [new Tensor(values, [1, 13, 1300]), new Tensor(values.toReversed(), [13, 1300])];
      const [y, expected] = [zeros([1, 13, 13]), zeros([1, 13, 13])];
      linear(x, w, undefined, y);
      plainLinear(x, w, undefined, expected);
      expectClose(y, expected, 1e-4);
    });
  });

  it('cuts a large first matrix into rows', () => {
    withEachBuild((simd) => {
      const [M, K, N] = [1000, 300, 70];
      const wave = Float32Array.from({ length: M * K }, (_, i) => Math.sin(i));
      const [x, w] = [new Tensor(wave, [1, M, K]), new Tensor(wave.subarray(0, N * K), [N, K])];
      const [y, expected] = [zeros([1, M, N]), zeros([1, M, N])];
      linear(x, w, undefined, y);
      plainLinear(x, w, undefined, expected);
      expectClose(y, expected, 1e-4);
      expect(simd.memory.used).toBeLessThan(2 ** 20);
    });
  });

  it('passes NaN and Inf on to their own row and column only', () => {
    withEachBuild(() => {
      const x = new Tensor(new Float32Array(9 * 5).fill(1), [1, 9, 5]);
      const w = new Tensor(new Float32Array(11 * 5).fill(1), [11, 5]);
      const y = zeros([1, 9, 11]);
      x.data[2 * 5 + 1] = Number.NaN;
      w.data[3 * 5] = Infinity;
      linear(x, w, undefined, y);
      for (let r = 0; r < 9; r++)
        for (let c = 0; c < 11; c++)
          expect(Number.isFinite(y.at(0, r, c)), `${r} ${c}`).toBe(r !== 2 && c !== 3);
    });
  });

  it('is left to the plain one where WebAssembly cannot run it', () => {
    expect(useNative([new Uint8Array([0, 1, 2])])).toBeUndefined();
    expect(native()).toBeUndefined();
    const [x, w, y] = [
      new Tensor(Float32Array.of(1, 2, 3), [1, 1, 3]),
      new Tensor(Float32Array.of(4, 5, 6), [1, 3]),
      zeros([1, 1, 1]),
    ];
    linear(x, w, undefined, y);
    expect(y.at(0, 0, 0)).toBe(32);
  });
});
