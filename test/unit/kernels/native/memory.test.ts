import { describe, expect, it } from 'vitest';
import { KernelMemory, MemoryError } from '../../../../runtime/kernels/native/memory';

describe('the memory of the kernels', () => {
  it('gives blocks that do not overlap, and takes them back', () => {
    const memory = new KernelMemory();
    const [a, b] = [memory.allocate(5), memory.allocate(5)];
    a.fill(1);
    b.fill(2);
    expect([...a, ...b]).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
    expect(memory.holds(a)).toBe(true);
    expect(memory.holds(new Float32Array(5))).toBe(false);
    const used = memory.used;
    memory.release(a);
    expect(memory.allocate(5).byteOffset).toBe(a.byteOffset);
    expect(memory.used).toBe(used);
  });

  it('keeps its arrays valid when it grows', () => {
    const memory = new KernelMemory();
    const before = memory.allocate(4).fill(7);
    const large = memory.allocate(20_000_000);
    large[19_999_999] = 1;
    expect(memory.holds(before) && memory.holds(large)).toBe(true);
    expect([...before]).toEqual([7, 7, 7, 7]);
  });

  it('says what to do when more is asked for than it can address', () => {
    const memory = new KernelMemory();
    expect(() => memory.allocate(2 ** 30)).toThrow(MemoryError);
    expect(() => memory.allocate(2 ** 30)).toThrow('lower the batch size');
  });
});
