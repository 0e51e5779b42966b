import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type NativeKernels, native, useNative } from '../../../../runtime/kernels/native';
import { useNativeFolder } from '../../../../runtime/kernels/native/file';
import { summarize } from '../../../../runtime/kernels/summary';
import { windowCells } from '../../../../runtime/kernels/windowCells';
import { Tensor } from '../../../../runtime/tensor/tensor';

const dist = new URL('../../../../dist', import.meta.url).pathname;
const helper = `${dist}/kernels.helper.js`;

describe('summaries with helper threads', () => {
  let simd: NativeKernels;
  beforeEach(() => {
    useNativeFolder(dist);
    simd = native()!;
  });
  afterEach(() => {
    simd.setThreads(1, helper);
    useNative([]);
  });

  it('have the same bits as with one thread', () => {
    const data = simd.memory.allocate(3_000_000);
    for (let i = 0; i < data.length; i++) data[i] = i % 1001 ? Math.sin(i) * (1 + (i % 10)) : Number.NaN;
    const tensors = [
      new Tensor(data, [3_000_000]),
      new Tensor(data, [2000, 1000], [1500, 1]),
      new Tensor(Float32Array.from(data), [3_000_000]),
    ];
    const all = () => tensors.map((t) => [summarize(t), summarize(t, { bins: 1000 }).histogram] as const);
    const window = () => windowCells(new Tensor(data, [1500, 2000]), 100, 100);
    const [one, cells] = [all(), window()];
    simd.setThreads(3, helper);
    const started = performance.now();
    for (let i = 0; i < 3 || performance.now() - started < 500; i++) {
      expect(all()).toEqual(one);
      expect(window()).toEqual(cells);
    }
    expect(simd.helped).toBeGreaterThan(0);
  });
});
