import fc from 'fast-check';
import type { NativeKernels } from '../../../../runtime/kernels/native';
import type { ScanTensors } from '../../../../runtime/kernels/selectiveScan';
import { numel, Tensor } from '../../../../runtime/tensor/tensor';
import { type Placement, placed, placement } from './builds';

/** The tensors of a scan by name, with dy for the way back. */
export type Inputs = ScanTensors & { dy: Tensor };

/** What the tensors of a scan are made from. */
export interface Recipe {
  batch: number;
  channels: number;
  length: number;
  states: number;
  skips: boolean;
  gated: boolean;
  /** The largest step size: the products with A reach 16 times as far down, and to a fifth up. */
  reach: number;
  seed: number;
  places: readonly Placement[];
}

const size = (max: number) => fc.integer({ min: 1, max });
/** Sometimes more channels than a tile, more steps than a segment, or more than four groups of states. */
const sizes = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ batch: size(3), channels: size(6), length: size(20), states: size(18) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      batch: size(2),
      channels: fc.integer({ min: 15, max: 40 }),
      length: size(5),
      states: size(40),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      batch: size(2),
      channels: size(3),
      length: fc.integer({ min: 500, max: 1100 }),
      states: size(5),
    }),
  },
);

export const recipe: fc.Arbitrary<Recipe> = fc
  .tuple(
    sizes,
    fc.record({
      skips: fc.boolean(),
      gated: fc.boolean(),
      reach: fc.constantFrom(0.1, 1, 20),
      seed: fc.integer({ min: 1, max: 2 ** 31 - 2 }),
      places: fc.array(placement(3), { minLength: 6, maxLength: 6 }),
    }),
  )
  .map(([shape, rest]) => ({ ...shape, ...rest }));

/** The tensors, laid out as the recipe says; parameters lie contiguously. */
export function inputsOf(simd: NativeKernels, r: Recipe): Inputs {
  const next = generator(r.seed);
  const values = (shape: readonly number[], low: number, high: number) =>
    Float32Array.from({ length: numel(shape) }, () => low + (high - low) * next());
  const sequence = (rows: number, k: number, low = -2, high = 2) => {
    const shape = [r.batch, rows, r.length];
    return placed(simd, shape, values(shape, low, high), r.places[k]);
  };
  const parameter = (shape: number[], low: number, high: number) =>
    new Tensor(values(shape, low, high), shape);
  return {
    u: sequence(r.channels, 0),
    delta: sequence(r.channels, 1, 0, r.reach),
    B: sequence(r.states, 2),
    C: sequence(r.states, 3),
    dy: sequence(r.channels, 4),
    // A state that grows would soon leave float32 over many steps.
    A: parameter([r.channels, r.states], -16, r.length * r.reach > 40 ? 0 : 0.2),
    D: r.skips ? parameter([r.channels], -2, 2) : undefined,
    z: r.gated ? sequence(r.channels, 5, -6, 6) : undefined,
  };
}

/** Numbers in [0, 1) that depend on the seed alone (Park & Miller 1988). */
function generator(seed: number): () => number {
  let x = seed;
  return () => {
    x = (x * 48271) % (2 ** 31 - 1);
    return x / (2 ** 31 - 1);
  };
}

/** The same with all but A made positive: sums of it bound the rounding errors of sums of the inputs. */
export function magnitudes(s: Inputs): Inputs {
  const positive = (x: Tensor) => new Tensor(x.toArray().map(Math.abs), x.shape);
  const { u, delta, B, C, dy, A, D, z } = s;
  return {
    ...{ u: positive(u), delta, B: positive(B), C: positive(C), dy: positive(dy), A },
    ...{ D: D && positive(D), z: z && positive(z) },
  };
}

export type Name = keyof Inputs;

/** Writes `value` to one element of a tensor. */
export function poison(x: Tensor, k: number, value: number): void {
  const index = x.indexOf(k % x.numel);
  x.data[index.reduce((at, i, axis) => at + i * x.strides[axis], x.offset)] = value;
}

/** A contiguous tensor shaped like another, filled with something that is to be overwritten. */
export const like = (x: Tensor) => new Tensor(new Float32Array(x.numel).fill(7), x.shape);

/** NaN for NaN, Inf for Inf, and else a number as large as may be. */
export const kindOf = (x: number) => (Number.isFinite(x) ? 'finite' : String(x));
