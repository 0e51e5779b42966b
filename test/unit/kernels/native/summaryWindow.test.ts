import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainWindowCells, windowCells } from '../../../../runtime/kernels/windowCells';
import { Tensor } from '../../../../runtime/tensor/tensor';
import { anyFloat, placed, placement, withEachBuild } from './builds';

describe('the SIMD window', () => {
  it('has the plain cells at any size, strides and placement', () => {
    withEachBuild((simd) => {
      fc.assert(
        fc.property(
          fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 90 })),
          fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 90 })),
          fc.array(anyFloat, { minLength: 1, maxLength: 997 }),
          placement(2),
          (shape, cells, values, place) => {
            const matrix = placed(simd, shape, values, place);
            const [rows, columns] = cells.map((n, axis) => Math.min(n, shape[axis]));
            const expected = plainWindowCells(matrix, rows, columns);
            expect(windowCells(matrix, rows, columns)).toEqual(expected);
          },
        ),
        { numRuns: 500 },
      );
    });
  });

  it('has the plain cells over many strips of columns', () => {
    withEachBuild((simd) => {
      const data = simd.memory.allocate(5 * 5003);
      for (let i = 0; i < data.length; i++) data[i] = Math.sin(i * i) * (i % 7 ? 1 : -2);
      data[9000] = Number.NaN;
      for (const strides of [
        [5003, 1],
        [5003, -1],
      ])
        for (const columns of [1, 3, 700, 1024, 2048]) {
          const matrix = new Tensor(data, [5, 5003], strides, strides[1] < 0 ? 5002 : 0);
          const expected = plainWindowCells(matrix, 2, columns);
          expect(windowCells(matrix, 2, columns)).toEqual(expected);
        }
    });
  });

  it('keeps the positive one of equals and NaN before infinities', () => {
    withEachBuild((simd) => {
      const data = simd.memory.allocate(300).fill(0);
      data.set([-2, 2, 1], 0);
      data.set([2, -2, 1], 100);
      data.set([Infinity, Number.NaN, -Infinity], 200);
      const cells = windowCells(new Tensor(data, [3, 100]), 3, 1);
      expect(Array.from(cells)).toEqual([2, 2, Number.NaN]);
    });
  });
});
