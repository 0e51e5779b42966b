import { availableParallelism } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type NativeKernels, native, useNative } from '../../../../runtime/kernels/native';
import { useNativeFolder, useThreads } from '../../../../runtime/kernels/native/file';
import { matmul } from '../../../../runtime/kernels/native/matmul';
import { CONTROL_WORDS, JobQueue } from '../../../../runtime/kernels/native/queue';
import { Tensor } from '../../../../runtime/tensor/tensor';

const dist = new URL('../../../../dist', import.meta.url).pathname;
const helper = `${dist}/kernels.helper.js`;

function tensor(simd: NativeKernels, rows: number, columns: number, seed: number): Tensor {
  const data = simd.memory.allocate(rows * columns);
  for (let i = 0; i < data.length; i++) data[i] = Math.sin(i * seed);
  return new Tensor(data, [rows, columns]);
}

describe('helper threads', () => {
  let simd: NativeKernels;
  beforeEach(() => {
    useNativeFolder(dist);
    simd = native()!;
  });
  afterEach(() => {
    simd.setThreads(1, helper);
    useNative([]);
  });

  it('give the same bits as one thread, job after job, and take part', () => {
    const [a, b] = [tensor(simd, 90, 64, 0.1), tensor(simd, 64, 300, 0.2)];
    const [one, many] = [tensor(simd, 90, 300, 0), tensor(simd, 90, 300, 0)];
    matmul(simd, { a, b, c: one, biasOf: 'rows' });
    simd.setThreads(4, helper);
    const started = performance.now();
    for (let i = 0; i < 3000 || performance.now() - started < 500; i++) {
      many.data.fill(Number.NaN);
      matmul(simd, { a, b, c: many, biasOf: 'rows' });
      if (!many.data.every((x, k) => x === one.data[k])) expect.fail(`job ${i} differs`);
    }
    expect(simd.threads).toBe(4);
    expect(simd.helped).toBeGreaterThan(0);
  });

  it('are as many as asked for, but never more than there are cores', () => {
    expect(useThreads(dist, 1)).toBe(1);
    expect(useThreads(dist, 1000)).toBe(availableParallelism());
    expect(useThreads(dist, 0)).toBe(Math.min(8, availableParallelism()));
  });

  it('end by themselves when they are dismissed, and others take their places', () => {
    const [a, b] = [tensor(simd, 90, 64, 0.1), tensor(simd, 64, 300, 0.2)];
    const [one, many] = [tensor(simd, 90, 300, 0), tensor(simd, 90, 300, 0)];
    matmul(simd, { a, b, c: one, biasOf: 'rows' });
    for (let round = 0; round < 8; round++) {
      simd.setThreads(1 + (round % 4), helper);
      for (let i = 0; i < 200; i++) {
        many.data.fill(Number.NaN);
        matmul(simd, { a, b, c: many, biasOf: 'rows' });
        if (!many.data.every((x, k) => x === one.data[k])) expect.fail(`round ${round}, job ${i} differs`);
      }
    }
  });

  it('that cannot start leave the work to the engine', () => {
    simd.setThreads(3, `${dist}/missing.js`);
    const [a, b, c] = [tensor(simd, 8, 8, 0), tensor(simd, 8, 40, 0), tensor(simd, 8, 40, 1)];
    a.data.fill(1);
    b.data.fill(1);
    matmul(simd, { a, b, c, biasOf: 'rows' });
    expect(c.data.every((x) => x === 8)).toBe(true);
  });
});

describe('the job queue', () => {
  it('hands out every item once, and is closed again after a failure', () => {
    const words = new Int32Array(new SharedArrayBuffer(4 * CONTROL_WORDS));
    const queue = new JobQueue(words);
    const seen: number[] = [];
    queue.share(0, 10, 3, (_, from, to) => {
      for (let i = from; i < to; i++) seen.push(i);
    });
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(() =>
      queue.share(0, 1, 1, () => {
        throw new Error('broken');
      }),
    ).toThrow('broken');
    // A helper that comes too late finds nothing to do.
    queue.help(0, () => expect.fail('the job is over'));
    const serial = queue.enlist(0);
    expect(queue.serves(0, serial)).toBe(true);
    queue.dismiss(0);
    expect(queue.serves(0, serial)).toBe(false);
  });
});
