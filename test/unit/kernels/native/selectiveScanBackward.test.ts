import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  plainSelectiveScanBackward,
  type ScanGradients,
  selectiveScanBackward,
} from '../../../../runtime/kernels/backward/selectiveScan';
import type { NativeKernels } from '../../../../runtime/kernels/native';
import type { Tensor } from '../../../../runtime/tensor/tensor';
import { type Placement, placed, placement, withEachBuild } from './builds';
import { type Inputs, inputsOf, kindOf, like, magnitudes, type Name, poison, recipe } from './scans';

const helper = new URL('../../../../dist/kernels.helper.js', import.meta.url).pathname;

const sources: Record<keyof ScanGradients, Name> = {
  du: 'u',
  ddelta: 'delta',
  dA: 'A',
  dB: 'B',
  dC: 'C',
  dD: 'D',
  dz: 'z',
};
const names = Object.keys(sources) as (keyof ScanGradients)[];

/** A place for the gradient of each tensor that is there. */
function gradientsOf(s: Inputs, wanted: readonly string[], make: (x: Tensor) => Tensor): ScanGradients {
  const there = names.filter((name) => wanted.includes(name) && s[sources[name]]);
  return Object.fromEntries(there.map((name) => [name, make(s[sources[name]]!)]));
}

describe('the SIMD gradients of the selective scan', () => {
  it('are the plain ones to float32, at any size and stride, all or some of them', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(recipe, fc.subarray(names), placement(3), placement(2), (r, wanted, of3, of2) => {
          const s = inputsOf(simd, r);
          const actual = gradientsOf(s, wanted, (x) => placedLike(simd, x, of3, of2));
          const [expected, sizes] = [gradientsOf(s, wanted, like), gradientsOf(s, wanted, like)];
          selectiveScanBackward(s, s.dy, actual);
          plainSelectiveScanBackward(s, s.dy, expected);
          const large = magnitudes(s);
          plainSelectiveScanBackward(large, large.dy, sizes);
          for (const name of Object.keys(actual) as (keyof ScanGradients)[]) {
            const tolerance = 1e-5 * Math.max(...sizes[name]!.data.map(Math.abs)) + 1e-30;
            actual[name]!.toArray().forEach((value, k) => {
              const error = Math.abs(value - expected[name]!.data[k]);
              expect(error, `${name} [${actual[name]!.indexOf(k)}]`).toBeLessThanOrEqual(tolerance);
            });
          }
        }),
        { numRuns: 300 },
      );
    });
  });

  it('have NaN and Inf where the plain ones have them', () => {
    const poisoned: Name[] = ['u', 'delta', 'A', 'B', 'C', 'D', 'z', 'dy'];
    withEachBuild((simd) => {
      fc.assert(
        fc.property(
          recipe,
          fc.constantFrom(...poisoned),
          fc.nat(),
          fc.constantFrom(Number.NaN, Infinity, -Infinity),
          (r, name, k, value) => {
            const s = inputsOf(simd, { ...r, reach: 0.1 });
            if (s[name]) poison(s[name], k, value);
            const [actual, expected] = [gradientsOf(s, names, like), gradientsOf(s, names, like)];
            selectiveScanBackward(s, s.dy, actual);
            plainSelectiveScanBackward(s, s.dy, expected);
            const kinds = (g: ScanGradients) =>
              Object.entries(g).map(([of, x]) => [of, [...x.data].map(kindOf)]);
            expect(kinds(actual)).toEqual(kinds(expected));
          },
        ),
        { numRuns: 400 },
      );
    });
  });

  it('are the same bits with helper threads as without', () => {
    withEachBuild((simd) => {
      const places = new Array(6).fill({
        order: [0, 1, 2],
        flipped: [false, false, false],
        gap: 0,
        atHome: true,
      });
      const sizes = { batch: 2, channels: 100, length: 600, states: 16, reach: 0.1, seed: 1 };
      const s = inputsOf(simd, { ...sizes, skips: true, gated: true, places });
      const [one, many] = [gradientsOf(s, names, like), gradientsOf(s, names, like)];
      selectiveScanBackward(s, s.dy, one);
      simd.setThreads(3, helper);
      try {
        const started = performance.now();
        while (simd.helped === 0 && performance.now() - started < 20_000)
          selectiveScanBackward(s, s.dy, many);
        expect(simd.helped).toBeGreaterThan(0);
        expect(many).toEqual(one);
      } finally {
        simd.setThreads(1, helper);
      }
    });
  });
});

function placedLike(simd: NativeKernels, x: Tensor, of3: Placement, of2: Placement): Tensor {
  if (x.rank === 1) return like(x);
  return placed(simd, x.shape, [7], x.rank === 3 ? of3 : of2);
}
