import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countNonFinite } from '../../../runtime/kernels/nonFinite';
import { summarize } from '../../../runtime/kernels/summary';
import { contiguousLayout, type Layout, numel, Tensor, view } from '../../../runtime/tensor/tensor';

const NAN = Number.NaN;
const INF = Number.POSITIVE_INFINITY;

function tensor(values: number[], shape = [values.length]): Tensor {
  return new Tensor(Float32Array.from(values), shape);
}

/** Where between its bins' edges an element lies, in float32 as documented. */
function place(x: number, min: number, max: number, bins: number): number {
  const unit = max - min > 2 ** 126 ? 2 ** -4 : max - min < 2 ** -100 ? 2 ** 64 : 1;
  const f = Math.fround;
  return f(f(f(x * unit) - f(min * unit)) * f(bins / ((max - min) * unit)));
}

/** Straight from the definitions, over the elements in row-major order. */
function plainSummary(xs: Float32Array, bins: number) {
  const finite = Array.from(xs).filter(Number.isFinite);
  const n = finite.length;
  const min = Math.min(...finite);
  const max = Math.max(...finite);
  const mean = finite.reduce((a, b) => a + b, 0) / n;
  const histogram = new Array<number>(bins).fill(0);
  for (const x of finite) {
    const bin = min === max ? 0 : Math.floor(place(x, min, max, bins));
    histogram[Math.min(bin, bins - 1)]++;
  }
  return {
    nan: xs.filter(Number.isNaN).length,
    posInf: xs.filter((x) => x === INF).length,
    negInf: xs.filter((x) => x === -INF).length,
    zeros: xs.filter((x) => x === 0).length,
    min: n ? min : null,
    max: n ? max : null,
    mean: n ? mean : null,
    std: n ? Math.sqrt(finite.reduce((a, x) => a + (x - mean) ** 2, 0) / n) : null,
    absmax: n ? Math.max(Math.abs(min), Math.abs(max)) : null,
    histogram,
  };
}

/** Which of 0 and -0 is the smallest is not told. */
const unsigned = <T>(x: T) => (x === 0 ? 0 : x);

function expectSame(t: Tensor, bins = 64): void {
  const actual = summarize(t, { bins });
  const expected = plainSummary(t.toArray(), bins);
  const scale = expected.absmax ?? 0;
  for (const key of ['nan', 'posInf', 'negInf', 'zeros', 'min', 'max', 'absmax', 'histogram'] as const)
    expect(unsigned(actual[key]), key).toEqual(unsigned(expected[key]));
  for (const key of ['mean', 'std'] as const) {
    if (expected[key] === null) expect(actual[key], key).toBeNull();
    else expect(Math.abs(actual[key]! - expected[key]), key).toBeLessThanOrEqual(1e-12 * scale);
  }
}

/** Numbers as they come in practice: mostly ordinary, some zeros, tiny and huge ones, few NaN and Inf. */
const element = fc.oneof(
  { weight: 12, arbitrary: fc.float({ noNaN: true, min: -10, max: 10 }) },
  { weight: 2, arbitrary: fc.constantFrom(0, 1, -1, 2 ** -149, -3e38, 3e38) },
  { weight: 1, arbitrary: fc.constantFrom(NAN, INF, -INF) },
);

const viewStep = fc.record({
  kind: fc.constantFrom('transpose', 'slice', 'select', 'flip', 'expand', 'stride'),
  a: fc.nat(7),
  b: fc.nat(7),
});

/** Tensors of rank 0 and up, empty ones too, seen through up to four views. */
const anyTensor = fc
  .record({
    shape: fc.array(fc.nat(6), { maxLength: 4 }),
    padding: fc.nat(3),
    steps: fc.array(viewStep, { maxLength: 4 }),
  })
  .chain(({ shape, padding, steps }) => {
    const length = numel(shape) + padding;
    return fc.array(element, { minLength: length, maxLength: length }).map((xs) => {
      let layout: Layout = { ...contiguousLayout(shape), offset: padding };
      for (const { kind, a, b } of steps) layout = applyStep(layout, kind, a, b);
      return new Tensor(Float32Array.from(xs), layout.shape, layout.strides, layout.offset);
    });
  });

function applyStep(l: Layout, kind: string, a: number, b: number): Layout {
  if (kind === 'expand') return { ...l, shape: [...l.shape, b % 4], strides: [...l.strides, 0] };
  const rank = l.shape.length;
  const axis = a % rank;
  const size = rank ? l.shape[axis] : 0;
  if (size === 0) return l;
  if (kind === 'transpose') return view.transpose(l, axis, b % rank);
  if (kind === 'flip') return view.flip(l, axis);
  if (kind === 'select') return view.select(l, axis, b % size);
  if (kind === 'slice') return view.slice(l, axis, b % size, size);
  const shape = l.shape.map((n, i) => (i === axis ? Math.ceil(n / 2) : n));
  return { ...l, shape, strides: l.strides.map((n, i) => (i === axis ? 2 * n : n)) };
}

describe('summarize', () => {
  test('agrees with the definitions for any shape, strides, NaN and Inf', () => {
    fc.assert(
      fc.property(anyTensor, fc.constantFrom(1, 2, 7, 64), (t, bins) => expectSame(t, bins)),
      { numRuns: 600 },
    );
  });

  test('agrees across block borders, with and without NaN', () => {
    const data = Float32Array.from({ length: 3 * 4096 + 7 }, (_, i) => Math.sin(i) * (i % 5 ? 1 : 0));
    expectSame(new Tensor(data, [data.length]));
    expectSame(new Tensor(data, [4096 + 3], [3], 1));
    expectSame(new Tensor(data, [100, 5], [100, 1], 0));
    expectSame(new Tensor(data, [100, 70], [100, 1], 0));
    data[5000] = NAN;
    data[data.length - 1] = -INF;
    expectSame(new Tensor(data, [data.length]));
    expectSame(new Tensor(data, [100, 70], [100, 1], 0));
  });

  test('describes the tensor itself', () => {
    const t = new Tensor(new Float32Array(24), [2, 3, 4], undefined, 0, 'float16', ['B', 'D', 'L']);
    const s = summarize(t.with(view.transpose(t, 1, 2)));
    expect(s).toMatchObject({
      dtype: 'float16',
      device: 'cpu',
      shape: [2, 4, 3],
      strides: [12, 1, 4],
      contiguous: false,
      numel: 24,
      zeros: 24,
    });
  });

  test('of a rank 0 tensor', () => {
    const s = summarize(Tensor.scalar(2.5));
    expect(s).toMatchObject({ shape: [], numel: 1, min: 2.5, max: 2.5, mean: 2.5, std: 0, absmax: 2.5 });
  });

  test('of a constant tensor is exact', () => {
    const s = summarize(new Tensor(new Float32Array(10_007).fill(0.1), [10_007]));
    const x = Math.fround(0.1);
    expect(s).toMatchObject({ min: x, max: x, mean: x, std: 0 });
    expect(s.histogram[0]).toBe(10_007);
  });

  test('of an empty tensor and of one without a finite element has no statistics', () => {
    const none = { min: null, max: null, mean: null, std: null, absmax: null };
    expect(summarize(tensor([], [2, 0, 3]))).toMatchObject({ ...none, numel: 0, nan: 0, zeros: 0 });
    const s = summarize(tensor([NAN, INF, -INF, NAN]));
    expect(s).toMatchObject({ ...none, nan: 2, posInf: 1, negInf: 1 });
    expect(s.histogram).toEqual(new Array(64).fill(0));
  });

  test('has a sound standard deviation far from zero', () => {
    const t = tensor(Array.from({ length: 100_000 }, (_, i) => 16_000_000 + (i % 2)));
    expect(summarize(t).std).toBeCloseTo(0.5, 10);
  });

  test('does not overflow at the ends of float32', () => {
    const s = summarize(tensor([-3.4e38, 3.4e38, 2 ** -149, 0]));
    expect(s.std! / 3.4e38).toBeCloseTo(Math.SQRT1_2, 6);
    expect(s.zeros).toBe(1);
  });

  test('counts an expanded axis as often as it repeats', () => {
    const s = summarize(new Tensor(Float32Array.of(1, 0, NAN), [3, 1000], [1, 0]));
    expect(s).toMatchObject({ numel: 3000, nan: 1000, zeros: 1000, mean: 0.5, std: 0.5 });
    expect(s.histogram[0] + s.histogram[63]).toBe(2000);
  });

  test('refuses a senseless number of bins', () => {
    for (const bins of [0, -1, 1.5, NAN, 1e9])
      expect(() => summarize(tensor([1]), { bins })).toThrow(/choose 1 to 65,536/);
  });
});

describe('countNonFinite', () => {
  test('counts and finds the first in row-major order, through any view', () => {
    fc.assert(
      fc.property(anyTensor, (t) => {
        const xs = t.toArray();
        const first = xs.findIndex((x) => !Number.isFinite(x));
        expect(countNonFinite(t)).toEqual({
          nan: xs.filter(Number.isNaN).length,
          posInf: xs.filter((x) => x === INF).length,
          negInf: xs.filter((x) => x === -INF).length,
          first: first < 0 ? null : t.indexOf(first),
        });
      }),
      { numRuns: 600 },
    );
  });

  test('is not misled by infinities that cancel or by huge finite numbers', () => {
    expect(countNonFinite(tensor([INF, -INF]))).toEqual({ nan: 0, posInf: 1, negInf: 1, first: [0] });
    expect(countNonFinite(tensor(new Array(5000).fill(3.4e38))).first).toBeNull();
  });
});
