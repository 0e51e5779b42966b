import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ScanGradients, selectiveScanBackward } from '../../../runtime/kernels/backward/selectiveScan';
import type { ScanTensors } from '../../../runtime/kernels/selectiveScan';
import { Recurrence } from '../../../runtime/models/recurrence';
import { RecurrenceBackward } from '../../../runtime/models/recurrenceBackward';
import { numel, Tensor, view } from '../../../runtime/tensor/tensor';

interface Sizes {
  B: number;
  D: number;
  L: number;
  N: number;
  skip: boolean;
  gate: boolean;
  seed: number;
}

const sizes = fc.record({
  B: fc.integer({ min: 1, max: 2 }),
  D: fc.integer({ min: 1, max: 4 }),
  L: fc.integer({ min: 1, max: 40 }),
  N: fc.integer({ min: 1, max: 5 }),
  skip: fc.boolean(),
  gate: fc.boolean(),
  seed: fc.nat({ max: 1000 }),
});

function random(shape: number[], seed: number, low = -1, high = 1): Tensor {
  const data = Float32Array.from({ length: numel(shape) }, (_, i) => {
    const wave = (Math.sin(12.9898 * (i + 1) + 78.233 * seed) + 1) / 2;
    return low + (high - low) * wave;
  });
  return new Tensor(data, shape);
}

/** The tensors of a scan, and dy against time as in the backward direction. */
function scan({ B, D, L, N, skip, gate, seed }: Sizes): { inputs: ScanTensors; dy: Tensor } {
  const inputs = {
    u: random([B, D, L], seed),
    delta: random([B, D, L], seed + 1, 0.01, 0.9),
    A: random([D, N], seed + 2, -3, -0.1),
    B: random([B, N, L], seed + 3),
    C: random([B, N, L], seed + 4),
    D: skip ? random([D], seed + 5) : undefined,
    z: gate ? random([B, D, L], seed + 6) : undefined,
  };
  const dy = random([B, D, L], seed + 7);
  return { inputs, dy: dy.with(view.flip(dy, 2)) };
}

const zerosLike = (x: Tensor) => new Tensor(new Float32Array(x.numel), x.shape);

function kernel(inputs: ScanTensors, dy: Tensor): Required<ScanGradients> {
  const { u, delta, A, B, C } = inputs;
  const gradients = {
    du: zerosLike(u),
    ddelta: zerosLike(delta),
    dA: zerosLike(A),
    dB: zerosLike(B),
    dC: zerosLike(C),
    dD: zerosLike(new Tensor(new Float32Array(u.shape[1]), [u.shape[1]])),
    dz: zerosLike(u),
  };
  const { dD, dz, ...always } = gradients;
  selectiveScanBackward(inputs, dy, {
    ...always,
    ...(inputs.D ? { dD } : {}),
    ...(inputs.z ? { dz } : {}),
  });
  return gradients;
}

function near(own: Tensor, other: Tensor, what: string): void {
  const [a, b] = [own.toArray(), other.toArray()];
  expect(a.length, what).toBe(b.length);
  const scale = b.reduce((m, x) => Math.max(m, Math.abs(x)), 1);
  a.forEach((x, i) => {
    expect(Math.abs(x - b[i]), `${what}[${i}]`).toBeLessThan(2e-5 * scale);
  });
}

function snapshot(r: RecurrenceBackward): unknown {
  return Object.entries(r.tensors()).map(([name, x]) => [name, x && [...x.toArray()]]);
}

describe('the recurrence backward in time', () => {
  it('gives the gradients of the kernel at each step, and their sums at the first', () => {
    fc.assert(
      fc.property(sizes, (s) => {
        const { inputs, dy } = scan(s);
        const expected = kernel(inputs, dy);
        const r = new RecurrenceBackward(inputs, dy);
        for (let t = s.L - 1; t >= 0; t--) {
          r.step();
          expect(r.t).toBe(t);
          for (const name of ['du', 'ddelta', 'dB', 'dC', 'dz'] as const)
            near(r[name], expected[name].with(view.select(expected[name], 2, t)), `${name} at ${t}`);
        }
        near(r.dA, expected.dA, 'dA');
        if (inputs.D) near(r.dD, expected.dD, 'dD');
      }),
      { numRuns: 30 },
    );
  });

  it('shows the states of the recurrence forward in time', () => {
    const { inputs, dy } = scan({ B: 2, D: 3, L: 20, N: 4, skip: true, gate: true, seed: 9 });
    const [r, forward] = [new RecurrenceBackward(inputs, dy), new Recurrence(inputs)];
    for (const t of [19, 7, 0]) {
      r.seek(t);
      forward.seek(t);
      expect(r.tensors()['h']!.toArray()).toEqual(forward.h.toArray());
      expect(r.tensors()['decay']!.toArray()).toEqual(forward.decay.toArray());
      forward.seek(t - 1);
      expect(r.h_prev.toArray()).toEqual(forward.h.toArray());
    }
  });

  it('is bit-equal going back and coming again, from any step to any other', () => {
    const { inputs, dy } = scan({ B: 1, D: 2, L: 40, N: 3, skip: true, gate: true, seed: 4 });
    const straight = new RecurrenceBackward(inputs, dy);
    const seen = new Map<number, unknown>();
    for (let t = 39; t >= 0; t--) {
      straight.step();
      seen.set(t, snapshot(straight));
    }
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 39 }), { minLength: 1, maxLength: 8 }), (targets) => {
        const r = new RecurrenceBackward(inputs, dy);
        for (const t of targets) {
          r.seek(t);
          expect(snapshot(r)).toEqual(seen.get(t));
        }
      }),
      { numRuns: 30 },
    );
  });
});
