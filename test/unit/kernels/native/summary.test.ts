import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate, formatValue, parseExpression, TensorValue } from '../../../../runtime/expression';
import { binningOf, plainHistogram } from '../../../../runtime/kernels/histogram';
import { inMemoryOrder } from '../../../../runtime/kernels/memoryOrder';
import { type NativeKernels, native } from '../../../../runtime/kernels/native';
import {
  nativeAllFinite,
  nativeExtremes,
  nativeHistogram,
  nativeStatistics,
} from '../../../../runtime/kernels/native/summary';
import { plainAllFinite, plainExtremes, plainStatistics } from '../../../../runtime/kernels/statistics';
import { summarize } from '../../../../runtime/kernels/summary';
import { Tensor } from '../../../../runtime/tensor/tensor';
import { anyFloat, placed, placement, withEachBuild } from './builds';

const finite = fc.oneof(
  { weight: 6, arbitrary: fc.float({ min: -4, max: 4, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -0, 1e-40, -1e-45, 3e38, -3e38, 16_000_001) },
);
const close = fc.integer({ min: -4, max: 4 }).map((i) => 1 + i * 2 ** -23);
const numbers = fc.oneof(
  ...[anyFloat, finite, close, fc.constant(0.1)].map((element) =>
    fc.array(element, { minLength: 1, maxLength: 97 }),
  ),
);

/** Any shape and placement, repeated along an expanded axis. */
const anyCase = fc.record({
  shape: fc.tuple(
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 7 }),
    fc.integer({ min: 1, max: 200 }),
  ),
  values: numbers,
  place: placement(3),
  repeats: fc.integer({ min: 1, max: 3 }),
});
type Case = typeof anyCase extends fc.Arbitrary<infer T> ? T : never;

function tensorOf(simd: NativeKernels, { shape, values, place, repeats }: Case): Tensor {
  const t = placed(simd, shape, values, place);
  return t.with({ shape: [...shape, repeats], strides: [...t.strides, 0], offset: t.offset });
}

function checkStatistics(simd: NativeKernels, view: Tensor): void {
  const [actual, expected] = [nativeStatistics(simd, view), plainStatistics(view)];
  for (const key of ['count', 'nan', 'posInf', 'negInf', 'zeros', 'min', 'max'] as const)
    expect(actual[key] + 0, key).toBe(expected[key] + 0);
  const size = expected.count * Math.max(Math.abs(expected.min), Math.abs(expected.max), 0);
  if (expected.count > 0) expect(Math.abs(actual.sum - expected.sum)).toBeLessThanOrEqual(1e-14 * size);
  expect(Math.abs(actual.squares - expected.squares)).toBeLessThanOrEqual(1e-11 * expected.squares);
}

function checkHistogram(simd: NativeKernels, view: Tensor, bins: number): void {
  const s = plainStatistics(view);
  if (!(s.min < s.max)) return;
  const binning = binningOf(s.min, s.max, bins);
  expect(binning.scale).toBeGreaterThan(0);
  expect(binning.scale).toBeLessThan(Number.POSITIVE_INFINITY);
  const counts = plainHistogram(view, binning);
  expect(nativeHistogram(simd, view, binning, s)).toEqual(counts);
  expect(counts.reduce((a, b) => a + b)).toBe(s.count);
}

describe('the SIMD statistics', () => {
  it('are the plain ones at any shape, strides and placement', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(anyCase, (c) => checkStatistics(simd, inMemoryOrder(tensorOf(simd, c)).view)),
        { numRuns: 300 },
      );
    });
  });

  it('are the plain ones over many blocks, with NaN and Inf in some', () => {
    withEachBuild((simd) => {
      const data = simd.memory.allocate(300_001);
      for (let i = 0; i < data.length; i++) data[i] = 1e4 + Math.sin(i);
      checkStatistics(simd, new Tensor(data, [300_001]));
      [0, 4097, 9000, 70_000, 299_999].forEach((at, k) => {
        data[at] = [Number.NaN, Infinity, -Infinity][k % 3];
      });
      data.fill(-Infinity, 131_072, 135_168);
      checkStatistics(simd, new Tensor(data, [300_001]));
      checkStatistics(simd, new Tensor(data, [1000, 250], [300, 1], 1));
      checkStatistics(simd, new Tensor(data, [10, 9000], [30_000, 1], 5));
      checkStatistics(simd, new Tensor(data, [7, 50, 60], [40_000, 700, 11], 3));
      checkStatistics(simd, new Tensor(Float32Array.from(data), [150_000], [2]));
    });
  });

  it('walk more axes than the kernels know', () => {
    withEachBuild((simd) => {
      const data = simd.memory.allocate(3 ** 8);
      for (let i = 0; i < data.length; i++) data[i] = i;
      const strides = Array.from({ length: 8 }, (_, axis) => 3 ** (7 - axis));
      checkStatistics(simd, new Tensor(data, new Array(8).fill(2), strides));
      checkStatistics(simd, new Tensor(data, new Array(6).fill(2), strides.slice(2)));
    });
  });

  it('are accurate over 10 million elements far from zero', () => {
    const [n, mean] = [10_000_000, 4096];
    withEachBuild((simd) => {
      const data = simd.memory.allocate(n);
      // Exact in float32: each of 1000 evenly spaced numbers equally often.
      for (let i = 0; i < n; i++) data[i] = mean + ((i % 1000) - 499.5) / 1024;
      const s = summarize(new Tensor(data, [n]));
      expect(Math.abs(s.mean! - mean)).toBeLessThan(1e-11);
      expect(s.std! / (Math.sqrt((1000 ** 2 - 1) / 12) / 1024)).toBeCloseTo(1, 12);
      expect(s.histogram.reduce((a, b) => a + b)).toBe(n);
      simd.memory.release(data);
    });
  });

  it('of a constant tensor have no spread', () => {
    withEachBuild((simd) => {
      const data = simd.memory.allocate(200_003).fill(0.1);
      const x = Math.fround(0.1);
      const s = summarize(new Tensor(data, [200_003]));
      expect(s).toMatchObject({ min: x, max: x, mean: x, std: 0 });
      expect(s.histogram[0]).toBe(200_003);
    });
  });
});

describe('the SIMD histogram', () => {
  it('has the plain counts at any shape, strides, placement and number of bins', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(anyCase, fc.constantFrom(1, 2, 7, 50, 64, 65, 1000), (c, bins) =>
          checkHistogram(simd, inMemoryOrder(tensorOf(simd, c)).view, bins),
        ),
        { numRuns: 300 },
      );
    });
  });

  it('has the plain counts when it counts in pairs', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(
          fc.array(anyFloat, { minLength: 20, maxLength: 2000 }),
          fc.integer({ min: 16_384, max: 40_000 }),
          fc.integer({ min: 1, max: 64 }),
          (values, n, bins) => {
            const data = simd.memory.allocate(n);
            for (let i = 0; i < n; i++) data[i] = Math.fround(values[i % values.length] % 1e30);
            checkHistogram(simd, new Tensor(data, [n]), bins);
            simd.memory.release(data);
          },
        ),
        { numRuns: 60 },
      );
    });
  });

  it('has the plain counts at any size of the range', () => {
    withEachBuild((simd) => {
      const data = simd.memory.allocate(20_000);
      for (const scale of [1e-45, 1e-40, 1e-31, 1e-30, 1, 1e36, 8e37, 3e38])
        for (const bins of [1, 64, 65_536]) {
          for (let i = 0; i < data.length; i++) data[i] = Math.fround(scale * Math.cos(i));
          if (scale === 1e-45) data[7] = 3e-45;
          checkHistogram(simd, new Tensor(data, [20_000]), bins);
        }
    });
  });

  it('does not overflow its counters', () => {
    withEachBuild((simd) => {
      const data = simd.memory.allocate(1_000_001).fill(1);
      data[0] = 2;
      const { histogram } = summarize(new Tensor(data, [1_000_001]));
      expect([histogram[0], histogram[63]]).toEqual([1_000_000, 1]);
      expect(summarize(new Tensor(data, [1_000_001]), { bins: 1000 }).histogram[0]).toBe(1_000_000);
    });
  });
});

describe('the SIMD extremes', () => {
  it('are the plain ones, and NaN where there is NaN', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(anyCase, (c) => {
          const { view } = inMemoryOrder(tensorOf(simd, c));
          const [actual, expected] = [nativeExtremes(simd, view), plainExtremes(view)];
          expect(actual.absmax).toBe(expected.absmax);
          if (!Number.isNaN(expected.absmax)) {
            expect(actual.min + 0).toBe(expected.min + 0);
            expect(actual.max + 0).toBe(expected.max + 0);
          }
          expect(nativeAllFinite(simd, view)).toBe(plainAllFinite(view));
        }),
        { numRuns: 300 },
      );
    });
  });

  it('see a single NaN or Inf wherever it is', () => {
    withEachBuild((simd) => {
      const data = simd.memory.allocate(140_005);
      for (const at of [0, 3, 4095, 4096, 65_535, 65_536, 139_999, 140_001, 140_004])
        for (const bad of [Number.NaN, Infinity, -Infinity]) {
          data.fill(3e38);
          expect(nativeAllFinite(simd, new Tensor(data, [140_005]))).toBe(true);
          data[at] = bad;
          expect(nativeAllFinite(simd, new Tensor(data, [140_005]))).toBe(false);
          expect(nativeExtremes(simd, new Tensor(data, [140_005])).absmax).toBe(Math.abs(bad));
        }
    });
  });
});

describe('reductions in expressions', () => {
  const texts = [
    ...['max()', 'min()', 'amax()', 'absmax()', 'mean()', 'std()', 'var(correction=0)', 'norm()', 'sum()'],
    ...['any()', 'all()', 'count_nonzero()', 'isnan().any()', 'isinf().sum()', 'isfinite().all()'],
  ].map((call) => `x.${call}`);
  const more = ['nan(x)', 'inf(x)', 'nonfinite(x)', '(x > 0.5).sum()', '(x > 9).any()', '(x <= 9).all()'];

  function answers(x: Tensor): string[] {
    const scope = {
      get: (name: string) => (name === 'x' ? new TensorValue(x) : undefined),
      names: () => ['x'],
    };
    return [...texts, ...more].map(
      (text) => `${text} ${formatValue(evaluate(parseExpression(text), scope))}`,
    );
  }

  it('are the same with and without the kernels', () => {
    const values = Float32Array.from({ length: 3 * 8 * 197 }, (_, i) => Math.sin(i));
    const cases = [[], [Number.NaN], [Infinity], [-Infinity], [Infinity, -Infinity], [Infinity, Number.NaN]];
    for (const bad of cases) {
      values.set(bad, 100);
      expect(native()).toBeUndefined();
      const plain = answers(new Tensor(values, [3, 8, 197]));
      withEachBuild((simd) => {
        const home = simd.memory.allocate(values.length);
        home.set(values);
        expect(answers(new Tensor(home, [3, 8, 197]))).toEqual(plain);
        expect(answers(new Tensor(values, [3, 8, 197]))).toEqual(plain);
      });
    }
  });
});
