import fc from 'fast-check';
import { describe, it } from 'vitest';
import { meanBackward } from '../../../../runtime/kernels/backward/reduction';
import { plainSumTo, sumParts, sumTo } from '../../../../runtime/kernels/backward/sum';
import { add, copy, map, mul, neg, scale, zip } from '../../../../runtime/kernels/elementwise';
import { meanOf, plainMeanOf } from '../../../../runtime/kernels/reduction';
import { type Layout, Tensor, view } from '../../../../runtime/tensor/tensor';
import { anyFloat, expectClose, placed, placement, withEachBuild } from './builds';
import { anyShape, blank, numbers } from './tensors';

const values = fc.array(anyFloat, { minLength: 1 });
const places = fc.tuple(placement(3), placement(3), placement(3));

describe('SIMD arithmetic', () => {
  it.each<[string, (x: Tensor, y: Tensor) => void, (x: number) => number]>([
    ['copy', copy, (x) => x],
    ['neg', neg, (x) => -x],
    ['scale', (x, y) => scale(x, 0.75, y), (x) => x * 0.75],
  ])('%s is the plain one to the bit on any view', (_, run, f) => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(anyShape, values, places, (shape, xs, [ofX, ofY]) => {
          const [x, y] = [placed(simd, shape, xs, ofX), placed(simd, shape, [], ofY)];
          const expected = blank(shape);
          run(x, y);
          map(x, expected, f);
          expectClose(y, expected, 0);
        }),
        { numRuns: 200 },
      );
    });
  });

  it.each<[string, (a: Tensor, b: Tensor, y: Tensor) => void, (a: number, b: number) => number]>([
    ['add', add, (a, b) => a + b],
    ['mul', mul, (a, b) => a * b],
  ])('%s is the plain one to the bit on any views and with any broadcast', (_, run, f) => {
    withEachBuild((simd) => {
      const ones = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.nat(2));
      fc.assert(
        fc.property(anyShape, values, values, places, ones, (shape, as, bs, [ofA, ofB, ofY], once) => {
          const lead = once[3];
          const a = placed(simd, shape, as, ofA);
          const whole = placed(
            simd,
            shape.map((n, i) => (once[i] ? 1 : n)),
            bs,
            ofB,
          );
          // Without its first axes, `b` is broadcast along them.
          const b = whole.with({
            shape: whole.shape.slice(lead),
            strides: whole.strides.slice(lead),
            offset: whole.offset,
          });
          const [y, expected] = [placed(simd, shape, [], ofY), blank(shape)];
          run(a, b, y);
          zip(a, b, expected, f);
          expectClose(y, expected, 0);
        }),
        { numRuns: 300 },
      );
    });
  });

  it('walks over more axes than the kernels know', () => {
    withEachBuild((simd) => {
      const five = fc.tuple(...[2, 3, 2, 3, 5].map((max) => fc.integer({ min: 1, max })));
      fc.assert(
        fc.property(five, values, placement(5), placement(5), placement(5), (shape, xs, ofA, ofB, ofY) => {
          const [a, b] = [placed(simd, shape, xs, ofA), placed(simd, shape, xs.toReversed(), ofB)];
          const [y, expected] = [placed(simd, shape, [], ofY), blank(shape)];
          add(a, b, y);
          zip(a, b, expected, (p, q) => p + q);
          expectClose(y, expected, 0);
        }),
        { numRuns: 200 },
      );
    });
  });

  it('takes a single number and no number at all', () => {
    withEachBuild(() => {
      const y = Tensor.scalar(0);
      add(Tensor.scalar(1), Tensor.scalar(2), y);
      expectClose(y, Tensor.scalar(3), 0);
      add(blank([2, 0]), blank([0]), blank([2, 0]));
    });
  });
});

/** Numbers whose sums do not depend on their order, for NaN and Inf and to float32. */
const summands = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: fc.float({ min: -4, max: 4, noNaN: true }) },
    { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Infinity, 1e-40) },
  ),
  { minLength: 1 },
);

describe('SIMD sums', () => {
  const anyAxis = fc.nat(2);

  it('over broadcast axes are the plain ones', () => {
    withEachBuild((simd) => {
      const ones = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.nat(2));
      fc.assert(
        fc.property(anyShape, summands, places, ones, (shape, xs, [ofX, ofTo], once) => {
          const x = placed(simd, shape, xs, ofX);
          const whole = placed(
            simd,
            shape.map((n, i) => (once[i] || i < once[3] ? 1 : n)),
            [],
            ofTo,
          );
          const to = whole.with({
            shape: whole.shape.slice(once[3]),
            strides: whole.strides.slice(once[3]),
            offset: whole.offset,
          });
          const expected = blank(to.shape);
          sumTo(x, to);
          plainSumTo(x, expected);
          expectClose(to, expected, 2e-7);
        }),
        { numRuns: 300 },
      );
    });
  });

  it('over long and wide tensors keep all digits', () => {
    withEachBuild((simd) => {
      const home = { order: [0, 1], flipped: [false, false], gap: 0, atHome: true };
      for (const turned of [false, true]) {
        const made = placed(
          simd,
          [3001, 53],
          Float32Array.from({ length: 9973 }, (_, i) => 1000 + Math.sin(i)),
          home,
        );
        const x = turned ? made.with(view.transpose(made, 0, 1)) : made;
        const [to, expected] = [blank([x.shape[1]]), blank([x.shape[1]])];
        sumTo(x, to);
        plainSumTo(x, expected);
        expectClose(to, expected, 1.2e-7);
      }
    });
  });

  it('mean and its gradient are the plain ones over any axis', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(
          anyShape,
          summands,
          placement(3),
          placement(2),
          placement(3),
          anyAxis,
          (shape, xs, ofX, ofY, ofDx, axis) => {
            const x = placed(simd, shape, xs, ofX);
            const y = placed(simd, shape.toSpliced(axis, 1), [], ofY);
            const expected = blank(y.shape);
            meanOf(x, axis, y);
            plainMeanOf(x, axis, expected);
            expectClose(y, expected, 2e-7);
            const [dx, spread] = [placed(simd, shape, [], ofDx), blank(shape)];
            meanBackward(y, axis, dx);
            zip(spreadAlong(y, axis), Tensor.scalar(shape[axis]), spread, (d, n) => d / n);
            expectClose(dx, spread, 2e-7);
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  it('of parts add up in the places where the parts belong', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(
          fc.array(partPlace, { minLength: 1, maxLength: 5 }),
          numbers,
          placement(3),
          fc.boolean(),
          (of, xs, p, atHome) => {
            const data = atHome ? simd.memory.allocate(2 * 6 * 7) : new Float32Array(2 * 6 * 7);
            const sum = new Tensor(data.fill(Number.NaN), [2, 6, 7]);
            const whole = of.map(([start, end, flipped]) => placeOf(sum, start, end, flipped));
            const parts = whole.map((place) => placed(simd, place.shape, xs, p));
            const expected = plainParts(parts, whole, sum);
            sumParts(parts, whole, sum);
            expectClose(sum, expected, 1e-6);
          },
        ),
        { numRuns: 300 },
      );
    });
  });
});

/** Part of the middle axis, flipped along the last axis or not. */
const partPlace = fc
  .tuple(fc.constantFrom([0, 3], [3, 6], [0, 6], [2, 5], [1, 2]), fc.boolean())
  .map(([[start, end], flipped]): [number, number, boolean] => [start, end, flipped]);

function placeOf(sum: Tensor, start: number, end: number, flipped: boolean): Layout {
  const part = view.slice(sum, 1, start, end);
  return flipped ? view.flip(part, 2) : part;
}

function plainParts(parts: readonly Tensor[], of: readonly Layout[], like: Tensor): Tensor {
  const sum = new Tensor(new Float32Array(like.data.length), like.shape);
  parts.forEach((part, i) => {
    const to = sum.with(of[i]);
    zip(to, part, to, (a, b) => a + b);
  });
  return sum;
}

function spreadAlong(y: Tensor, axis: number): Tensor {
  return y.with({
    shape: y.shape.toSpliced(axis, 0, 1),
    strides: y.strides.toSpliced(axis, 0, 0),
    offset: y.offset,
  });
}
