import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cellSpan,
  decodeCells,
  decodeResponse,
  edgeRuns,
  nonFiniteEdges,
  reduction,
} from '../../../webview/tensors/cells';
import { replyOf } from './samples';

describe('cells', () => {
  it('are little-endian float32 in base64', () => {
    const { cells } = decodeResponse(replyOf([1.5, -2, Number.NaN, Infinity], 2, 2));
    expect([...cells]).toEqual([1.5, -2, Number.NaN, Infinity]);
  });
  it('must be as many as the reply says', () => {
    expect(() => decodeCells(replyOf([1, 2], 1, 2).data, 3)).toThrow('8 bytes where 3 cells need 12');
  });
  it('of any values come back bit for bit', () => {
    fc.assert(
      fc.property(fc.float32Array({ maxLength: 50 }), (values) => {
        const { cells } = decodeResponse(replyOf([...values], 1, values.length));
        expect(cells).toEqual(values);
      }),
    );
  });
});

describe('the elements of cells', () => {
  it('cover the window once, in order', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 0, max: 50 }),
        fc.nat(),
        (count, start, n) => {
          const cells = 1 + (n % count);
          const spans = Array.from({ length: cells }, (_, cell) => cellSpan(cell, cells, start, count));
          expect(spans[0][0]).toBe(start);
          expect(spans.at(-1)?.[1]).toBe(start + count - 1);
          for (let i = 1; i < cells; i++) expect(spans[i][0]).toBe(spans[i - 1][1] + 1);
        },
      ),
    );
  });
  it('are counted for the words', () => {
    expect(reduction({ rows: 192, rowCount: 384, columns: 99, columnCount: 197 })).toEqual({
      down: 2,
      right: 2,
    });
  });
});

describe('marks at the edge', () => {
  const cells = Float32Array.from([1, Number.NaN, 2, 3, Infinity, 4]);
  it('name the rows and columns that are not finite', () => {
    expect(nonFiniteEdges(cells, 2, 3)).toEqual({
      rows: ['nan', 'inf'],
      columns: [undefined, 'nan', undefined],
    });
  });
  it('join neighbours of a kind', () => {
    expect(edgeRuns([undefined, 'nan', 'nan', 'inf', undefined, 'inf'])).toEqual([
      { kind: 'nan', from: 1, to: 3 },
      { kind: 'inf', from: 3, to: 4 },
      { kind: 'inf', from: 5, to: 6 },
    ]);
  });
});
