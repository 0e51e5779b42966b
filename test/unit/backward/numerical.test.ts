import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ropeTables } from '../../../runtime/kernels/rope';
import type { ModelBuilder } from '../../../runtime/program/modelBuilder';
import type { Value } from '../../../runtime/program/value';
import { type Check, checkGradients } from './numerical';

type Body = (p: ModelBuilder, x: Record<string, Value>) => Value;
type Sizes = { b: number; l: number; d: number; n: number; seed: number; flag: boolean; other: boolean };

/** Random sizes: batch, length, channels, states or outputs. */
const sizes = fc.record({
  b: fc.integer({ min: 1, max: 3 }),
  l: fc.integer({ min: 1, max: 6 }),
  d: fc.integer({ min: 1, max: 5 }),
  n: fc.integer({ min: 1, max: 4 }),
  seed: fc.nat(),
  flag: fc.boolean(),
  other: fc.boolean(),
});

/** One case: the inputs for given sizes, and what is built of them. */
function check(name: string, make: (s: Sizes) => [Omit<Check, 'seed'>, Body]): void {
  it(name, () => {
    fc.assert(
      fc.property(sizes, (s) => {
        const [inputs, body] = make(s);
        checkGradients({ ...inputs, seed: s.seed }, body);
      }),
      { numRuns: 15 },
    );
  });
}

const bld = ({ b, l, d }: Sizes) => ({ shapes: { x: [b, l, d] } });
const bdl = ({ b, l, d }: Sizes) => ({ shapes: { x: [b, d, l] } });

describe('gradients by finite differences', () => {
  describe('layers', () => {
    check('linear', (s) => [bld(s), (p, { x }) => p.linear(x, 'layer', s.n, s.flag)]);
    check('linear of a matrix', (s) => [
      { shapes: { x: [s.b, s.d] } },
      (p, { x }) => p.linear(x, 'layer', s.n, s.flag),
    ]);
    check('project', (s) => [bdl(s), (p, { x }) => p.project(x, 'layer', s.n, s.flag)]);
    check('causal_conv1d', (s) => [bdl(s), (p, { x }) => p.causalConv1d(x, 'layer', s.n, s.flag)]);
    check('patch_embed', (s) => {
      const shapes = { x: [s.b, s.d, s.n + s.l, s.n + 2] };
      return [{ shapes }, (p, { x }) => p.patchEmbed(x, 'layer', 3, s.n, s.flag ? s.n : 1)];
    });
    check('rms_norm', (s) => [bld(s), (p, { x }) => p.rmsNorm(x, 'layer', 0.1)]);
    check('layer_norm', (s) => [bld(s), (p, { x }) => p.layerNorm(x, 'layer', 0.1)]);
    check('embedding', (s) => {
      const ids = Float32Array.from({ length: s.b * s.l }, (_, i) => (7 * i + s.seed) % (s.d + 1));
      return [{ shapes: {} }, (p) => p.embedding(p.buffer('ids', [s.b, s.l], ids), 'table', s.d + 1, s.n)];
    });
    check('rope', (s) => {
      const tables = ropeTables(4 * s.d, 14, s.n);
      const tokens = s.n * s.n;
      const shapes = { x: [s.b, tokens - (tokens % 2) + (s.flag ? 1 : 0), 4 * s.d] };
      const rows = tokens - (tokens % 2);
      const table = (p: ModelBuilder, name: 'cos' | 'sin') =>
        p.buffer(name, [rows, 4 * s.d], tables[name].slice(0, rows * 4 * s.d));
      return [{ shapes }, (p, { x }) => p.rope(x, table(p, 'cos'), table(p, 'sin'))];
    });
  });

  describe('elementwise', () => {
    const wide = { x: [-6, 6] as const };
    check('silu', (s) => [{ ...bld(s), ranges: wide }, (p, { x }) => p.silu(x)]);
    check('softplus', (s) => [{ ...bld(s), ranges: wide }, (p, { x }) => p.softplus(x)]);
    check('softplus where it is x', (s) => [
      { ...bld(s), ranges: { x: [20.1, 30] } },
      (p, { x }) => p.softplus(x),
    ]);
    check('exp and neg', (s) => [bld(s), (p, { x }) => p.neg(p.exp(x))]);
    check('scale', (s) => [bld(s), (p, { x }) => p.scale(x, -0.3)]);
    const pair = (s: Sizes) => ({
      shapes: { a: [s.b, s.l, s.d], b: [[s.d], [1, s.l, s.d], [s.l, 1], [s.b, s.l, s.d]][s.n - 1] },
    });
    check('add, broadcast', (s) => [pair(s), (p, { a, b }) => (s.flag ? p.add(a, b) : p.add(b, a))]);
    check('mul, broadcast', (s) => [pair(s), (p, { a, b }) => (s.flag ? p.mul(a, b) : p.mul(b, a))]);
    check('sub, broadcast', (s) => [pair(s), (p, { a, b }) => (s.flag ? p.sub(a, b) : p.sub(b, a))]);
    check('div, broadcast', (s) => [
      { ...pair(s), ranges: { a: [1, 2], b: [1, 2] } },
      (p, { a, b }) => (s.flag ? p.div(a, b) : p.div(b, a)),
    ]);
    const positive = { x: [0.5, 2] as const };
    check('abs and relu', (s) => [
      { ...bld(s), ranges: { x: [-1, 1.5] } }, // none of the values is 0
      (p, { x }) => (s.flag ? p.abs(x) : p.relu(x)),
    ]);
    check('log and sqrt', (s) => [
      { ...bld(s), ranges: positive },
      (p, { x }) => (s.flag ? p.log(x) : p.sqrt(x)),
    ]);
    check('sigmoid and tanh', (s) => [bld(s), (p, { x }) => (s.flag ? p.sigmoid(x) : p.tanh(x))]);
    check('pow', (s) => [{ ...bld(s), ranges: positive }, (p, { x }) => p.pow(x, [-1, 0, 0.5, 3][s.n - 1])]);
    check('pow of what is below 0', (s) => [bld(s), (p, { x }) => p.pow(x, s.n)]);
    check('shift', (s) => [bld(s), (p, { x }) => p.mul(p.shift(x, 0.7), x)]);
    check('mul with itself', (s) => [bld(s), (p, { x }) => p.mul(x, x)]);
  });

  describe('shapes', () => {
    check('mean', (s) => [bld(s), (p, { x }) => p.mean(x, s.seed % 3)]);
    check('sum over some axes', (s) => [
      bld(s),
      (p, { x }) => p.sum(p.transpose(x, 0, 2), [[], [0], [1, 2], [0, 1, 2]][s.n - 1]),
    ]);
    check('max', (s) => [bld(s), (p, { x }) => p.max(x, s.seed % 3)]);
    check('concat, with a batch of one repeated', (s) => [
      { shapes: { x: [s.b, s.l, s.d], token: [1, s.n, s.d], tail: [s.b, 1, s.d] } },
      (p, { x, token, tail }) => p.concat(s.flag ? [token, x, tail] : [x, p.flip(x, 1), token], 1),
    ]);
  });

  describe('views', () => {
    check('one use', (s) => [bld(s), (p, { x }) => p.silu(s.flag ? p.flip(x, 1) : p.transpose(x, 1, 2))]);
    check('a part of a tensor', (s) => [
      bld(s),
      (p, { x }) => p.silu(s.flag ? p.select(x, 1, s.l - 1) : p.slice(x, 2, 0, Math.max(1, s.d - 1))),
    ]);
    check('every second element, with a new axis', (s) => [
      { shapes: { x: [s.b, 2 * s.l + 1, s.d] } },
      (p, { x }) => p.exp(p.unsqueeze(p.every(x, 1, 2), s.n - 1)),
    ]);
    check('overlapping parts, turned and not', (s) => [
      { shapes: { x: [s.b, 2 * s.d, s.l] } },
      (p, { x }) => {
        const [a, b] = p.split(p.exp(x), 1, [s.d, s.d]);
        const turned = p.split(p.flip(p.scale(x, 2), 2), 1, [s.d, s.d]);
        return p.add(p.mul(a, p.flip(turned[0], 2)), p.mul(p.flip(b, 1), p.silu(turned[1])));
      },
    ]);
    check('the output itself', (s) => [bld(s), (p, { x }) => p.transpose(p.flip(p.exp(x), 0), 0, 2)]);
  });

  check('cross_entropy', (s) => {
    const labels = Float32Array.from({ length: s.b * s.l }, (_, i) => (i + s.seed) % s.d);
    const shapes = { x: [s.b, s.l, s.d] };
    return [{ shapes }, (p, { x }) => p.crossEntropy(x, p.buffer('labels', [s.b, s.l], labels))];
  });

  check('selective_scan', (s) => {
    const shapes = {
      u: [s.b, s.d, s.l],
      delta: [s.b, s.d, s.l],
      A: [s.d, s.n],
      B: [s.b, s.n, s.l],
      C: [s.b, s.n, s.l],
      ...(s.flag ? { D: [s.d] } : {}),
      ...(s.other ? { z: [s.b, s.d, s.l] } : {}),
    };
    const ranges = { delta: [0.05, 0.9], A: [-3, -0.2] } as const;
    return [
      { shapes, ranges },
      (p, { u, delta, A, B, C, D, z }) => {
        expect(u.shape).toEqual(shapes.u);
        return p.selectiveScan({ u, delta, A, B, C, D, z });
      },
    ];
  });

  check('selective_scan against time, as in the backward direction', (s) => {
    const shapes = { xz: [s.b, 2 * s.d, s.l], bc: [s.b, 2 * s.n, s.l], A: [s.d, s.n], D: [s.d] };
    return [
      { shapes, ranges: { A: [-3, -0.2] } },
      (p, { xz, bc, A, D }) => {
        const [u, z] = p.split(p.flip(xz, 2), 1, [s.d, s.d]);
        const [B, C] = p.split(p.flip(bc, 2), 1, [s.n, s.n]);
        return p.flip(p.selectiveScan({ u, delta: p.softplus(u), A, B, C, D, z }), 2);
      },
    ];
  });
});
