import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silu, siluOf, softplus, softplusOf } from '../../../runtime/kernels/activation';
import { causalConv1d, patchConvolution } from '../../../runtime/kernels/convolution';
import { zip } from '../../../runtime/kernels/elementwise';
import { exp } from '../../../runtime/kernels/exp';
import { linear } from '../../../runtime/kernels/linear';
import { layerNorm, rmsNorm } from '../../../runtime/kernels/norm';
import { selectiveScan } from '../../../runtime/kernels/selectiveScan';
import { Recurrence } from '../../../runtime/models/recurrence';
import { Tensor, view } from '../../../runtime/tensor/tensor';

/** A tensor of the given shape with values in [-1, 1], the same for the same seed. */
function random(shape: number[], seed = 1): Tensor {
  let s = seed;
  const n = shape.reduce((a, b) => a * b, 1);
  const next = () => {
    s = (Math.imul(1664525, s) + 1013904223) >>> 0;
    return s / 2 ** 31 - 1;
  };
  return new Tensor(Float32Array.from({ length: n }, next), shape);
}

const zeros = (shape: number[]) => new Tensor(new Float32Array(shape.reduce((a, b) => a * b, 1)), shape);
const size = fc.integer({ min: 1, max: 9 });

function expectClose(actual: Tensor, expected: (index: number[]) => number, tolerance = 1e-5): void {
  const values = actual.toArray();
  for (let k = 0; k < actual.numel; k++) {
    const want = expected(actual.indexOf(k));
    expect(Math.abs(values[k] - want)).toBeLessThanOrEqual(tolerance * Math.max(1, Math.abs(want)));
  }
}

const sum = (n: number, f: (i: number) => number) =>
  Array.from({ length: n }, (_, i) => f(i)).reduce((a, b) => a + b, 0);

describe('kernels against their formulas', () => {
  it('linear, on any strides of x and y', () => {
    fc.assert(
      fc.property(
        size,
        size,
        size,
        size,
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        (b, m, k, n, turnX, turnY, biased) => {
          const x = turnX
            ? random([b, k, m]).with(view.transpose(random([b, k, m]), 1, 2))
            : random([b, m, k]);
          const made = zeros(turnY ? [b, n, m] : [b, m, n]);
          const y = turnY ? made.with(view.transpose(made, 1, 2)) : made;
          const [w, bias] = [random([n, k], 2), random([n], 3)];
          linear(x, w, biased ? bias : undefined, y);
          expectClose(
            y,
            ([i, r, c]) => sum(k, (j) => x.at(i, r, j) * w.at(c, j)) + (biased ? bias.at(c) : 0),
          );
        },
      ),
    );
  });

  it('causalConv1d, on flipped input too', () => {
    fc.assert(
      fc.property(size, size, size, fc.integer({ min: 1, max: 5 }), fc.boolean(), (b, d, l, taps, turned) => {
        const straight = random([b, d, l]);
        const x = turned ? straight.with(view.flip(straight, 2)) : straight;
        const [w, bias, y] = [random([d, 1, taps], 2), random([d], 3), zeros([b, d, l])];
        causalConv1d(x, w, bias, y);
        expectClose(
          y,
          ([i, c, t]) =>
            bias.at(c) +
            sum(taps, (k) => (t - taps + 1 + k < 0 ? 0 : w.at(c, 0, k) * x.at(i, c, t - taps + 1 + k))),
        );
      }),
    );
  });

  it('patchConvolution, overlapping patches too', () => {
    const [x, w, bias, y] = [
      random([2, 3, 9, 9]),
      random([4, 3, 3, 3], 2),
      random([4], 3),
      zeros([2, 16, 4]),
    ];
    patchConvolution(x, w, bias, y, 2);
    const at = ([b, p, e]: number[]) => {
      const [top, left] = [2 * Math.floor(p / 4), 2 * (p % 4)];
      return (
        bias.at(e) +
        sum(
          27,
          (k) =>
            w.data[27 * e + k] * x.at(b, Math.floor(k / 9), top + Math.floor((k % 9) / 3), left + (k % 3)),
        )
      );
    };
    expectClose(y, at);
  });

  it('norms', () => {
    const [x, w, bias] = [random([2, 3, 8]), random([8], 2), random([8], 3)];
    const [rms, ln] = [zeros([2, 3, 8]), zeros([2, 3, 8])];
    rmsNorm(x, w, undefined, 1e-5, rms);
    layerNorm(x, w, bias, 1e-5, ln);
    const mean = (b: number, r: number) => sum(8, (k) => x.at(b, r, k)) / 8;
    const variance = (b: number, r: number) => sum(8, (k) => (x.at(b, r, k) - mean(b, r)) ** 2) / 8;
    expectClose(
      rms,
      ([b, r, c]) => (x.at(b, r, c) / Math.sqrt(sum(8, (k) => x.at(b, r, k) ** 2) / 8 + 1e-5)) * w.at(c),
    );
    expectClose(
      ln,
      ([b, r, c]) => ((x.at(b, r, c) - mean(b, r)) / Math.sqrt(variance(b, r) + 1e-5)) * w.at(c) + bias.at(c),
    );
  });

  it('elementwise with broadcasting', () => {
    const [a, b, y] = [random([2, 1, 4]), random([3, 1], 2), zeros([2, 3, 4])];
    zip(a, b, y, (p, q) => p + q);
    expectClose(y, ([i, j, k]) => a.at(i, 0, k) + b.at(j, 0));
  });
});

describe('exp and what is made of it', () => {
  it('is as exact as float32 can show, over its whole range and at its ends', () => {
    fc.assert(
      fc.property(fc.double({ min: -800, max: 800 }), (x) => {
        const want = Math.exp(x);
        expect(Object.is(exp(x), want) || Math.abs(exp(x) / want - 1) < 2e-9).toBe(true);
      }),
      { numRuns: 5000 },
    );
    for (const x of [0, -0, Number.NaN, Infinity, -Infinity, -745.2, 709.8, 1e300])
      expect(exp(x)).toBe(Math.exp(x));
  });

  it('silu and softplus keep their tails', () => {
    for (const x of [-100, -40, -20, -15, -12, -1, 0, 1, 12, 19.9, 20.1, 100]) {
      const exact = x > 20 ? x : Math.log1p(Math.exp(x));
      expect(Math.abs(softplus(x) / exact - 1)).toBeLessThan(1e-8);
      expect(silu(x)).toBeCloseTo(x / (1 + Math.exp(-x)), 8);
    }
    expect(softplus(Number.NaN)).toBeNaN();
    expect(silu(Number.NaN)).toBeNaN();
  });

  it('run over views as over contiguous tensors', () => {
    const x = random([3, 5]);
    const turned = x.with(view.transpose(x, 0, 1));
    for (const run of [siluOf, softplusOf]) {
      const [y, z] = [zeros([3, 5]), zeros([5, 3])];
      run(x, y);
      run(turned, z);
      expectClose(z, ([i, j]) => y.at(j, i), 0);
    }
  });
});

describe('the scan', () => {
  const inputs = (b: number, d: number, l: number, n: number, full: boolean) => ({
    u: random([b, d, l], 1),
    delta: new Tensor(
      random([b, d, l], 2).data.map((x) => 0.05 * (x + 1.01)),
      [b, d, l],
    ),
    A: new Tensor(
      random([d, n], 3).data.map((x) => -8 * (x + 1.1)),
      [d, n],
    ),
    B: random([b, n, l], 4),
    C: random([b, n, l], 5),
    ...(full ? { D: random([d], 6), z: random([b, d, l], 7) } : {}),
  });

  it('is the recurrence that a person steps through', () => {
    fc.assert(
      fc.property(size, size, size, size, fc.boolean(), (b, d, l, n, full) => {
        const s = inputs(b, d, l, n, full);
        const y = zeros([b, d, l]);
        selectiveScan(s, y);
        const r = new Recurrence(s);
        for (let t = 0; t < l; t++) {
          r.step();
          expectClose(r.y, ([i, c]) => y.at(i, c, t));
        }
      }),
    );
  });

  it('can be sought to any step, bit-equal to stepping there', () => {
    const s = inputs(2, 3, 50, 4, true);
    const states: Float32Array[] = [];
    const straight = new Recurrence(s);
    for (let t = 0; t < 50; t++) {
      straight.step();
      states.push(straight.h.data.slice());
    }
    const r = new Recurrence(s);
    fc.assert(
      fc.property(fc.nat(49), (t) => {
        r.seek(t);
        expect(r.t).toBe(t);
        expect(r.h.data).toEqual(states[t]);
      }),
      { numRuns: 200 },
    );
  });
});
