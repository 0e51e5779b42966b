import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type NativeKernels, native, useNative } from '../../../../runtime/kernels/native';
import { BUILDS } from '../../../../runtime/kernels/native/file';
import { numel, Tensor } from '../../../../runtime/tensor/tensor';

setFlagsFromString('--experimental-wasm-relaxed-simd');
const built = BUILDS.map((name) => ({
  name,
  module: readFileSync(new URL(`../../../../dist/${name}`, import.meta.url)),
}));

/** Runs a check with each build of the kernels; the plain ones are in use again afterwards. */
export function withEachBuild(check: (simd: NativeKernels) => void): void {
  for (const { name, module } of built) {
    expect(useNative([module]), `${name} runs here`).toBe(0);
    try {
      check(native()!);
    } finally {
      useNative([]);
    }
  }
}

/** Float32 numbers of all sizes: mostly plain ones, sometimes denormal, zero, NaN or infinite. */
export const anyFloat = fc.oneof(
  { weight: 12, arbitrary: fc.float({ min: -4, max: 4, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -0, 1e-40, -1e-45, 3e38, -3e38) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Infinity, -Infinity) },
);

/** How a tensor lies in memory: each axis straight or flipped, in any order, with gaps, in the kernels' memory or not. */
export interface Placement {
  order: readonly number[];
  flipped: readonly boolean[];
  gap: number;
  atHome: boolean;
}

export function placement(rank: number): fc.Arbitrary<Placement> {
  return fc.record({
    order: fc.shuffledSubarray([...new Array(rank).keys()], { minLength: rank }),
    flipped: fc.array(fc.boolean(), { minLength: rank, maxLength: rank }),
    gap: fc.nat(2),
    atHome: fc.boolean(),
  });
}

/** A tensor of the given shape and placement, with `values` in row-major order (repeated when too few). */
export function placed(
  simd: NativeKernels,
  shape: readonly number[],
  values: ArrayLike<number>,
  p: Placement,
): Tensor {
  const strides = new Array<number>(shape.length);
  let [step, offset] = [1, 0];
  for (const axis of p.order.toReversed()) {
    strides[axis] = p.flipped[axis] ? -step : step;
    if (p.flipped[axis]) offset += step * Math.max(0, shape[axis] - 1);
    step *= shape[axis] + p.gap;
  }
  const data = p.atHome ? simd.memory.allocate(Math.max(1, step)) : new Float32Array(Math.max(1, step));
  data.fill(Number.NaN);
  const tensor = new Tensor(data, shape, strides, offset);
  for (let k = 0; k < numel(shape); k++) {
    const at = tensor.indexOf(k).reduce((sum, i, axis) => sum + i * strides[axis], offset);
    data[at] = values.length ? values[k % values.length] : 0;
  }
  return tensor;
}

/** Both NaN, or equal (Inf too), or within the tolerance relative to the larger of 1 and |expected|. */
export function expectClose(actual: Tensor, expected: Tensor, tolerance: number): void {
  const [a, e] = [actual.toArray(), expected.toArray()];
  for (let k = 0; k < e.length; k++) {
    const same = Object.is(a[k], e[k]) || a[k] === e[k];
    const near = Math.abs(a[k] - e[k]) <= tolerance * Math.max(1, Math.abs(e[k]));
    if (!same && !near) expect.fail(`element [${actual.indexOf(k)}] is ${a[k]} and not ${e[k]}`);
  }
}
