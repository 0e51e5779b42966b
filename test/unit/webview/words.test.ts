import { describe, expect, it } from 'vitest';
import { axisTicks, curvePath, pictureSize } from '../../../webview/tensors/picture';
import { cellPlace, emptyWords, pictureWords } from '../../../webview/tensors/words';
import { replyOf, summaryOf } from './samples';

describe('words under a picture', () => {
  it('say how many values, their range, and what is wrong', () => {
    const summary = summaryOf({ shape: [384, 197], min: 0.00042, max: 0.42, nan: 12 });
    expect(pictureWords(replyOf([], 384, 197, { summary }))).toBe('75,648 values, [0.00042, 0.42]; 12 NaN.');
  });
  it('say what a cell stands for', () => {
    const reply = replyOf([], 192, 197, { rowCount: 384, columnCount: 197, reduced: true });
    expect(pictureWords(reply)).toContain('each cell shows the largest of 2 × 1 values');
    const uneven = replyOf([], 192, 99, { rowCount: 384, columnCount: 197, reduced: true });
    expect(pictureWords(uneven)).toContain('each cell shows the largest of up to 2 × 2 values');
  });
  it('say how colours bend', () => {
    expect(pictureWords(replyOf([], 1, 1), 'root')).toContain('colours follow the square root');
    expect(pictureWords(replyOf([], 1, 1), 'log')).toContain('logarithm');
  });
  it.each([
    [{ shape: [3], min: 1, max: 1 }, '3 values, all 1.'],
    [{ shape: [3], min: 1, max: 1, nan: 1 }, '3 values, the finite ones all 1; 1 NaN.'],
    [{ shape: [], min: 0.1, max: 0.1 }, '1 value: 0.1.'],
    [
      { shape: [2], min: null, max: null, posInf: 1, negInf: 1 },
      '2 values, none of them finite; 1 +Inf; 1 -Inf.',
    ],
  ])('of %j', (change, expected) => {
    expect(pictureWords(replyOf([], 1, 1, { summary: summaryOf(change) }))).toBe(expected);
  });
  it('tell why an empty tensor is empty', () => {
    expect(emptyWords([1, 0], ['B', 'L'])).toBe('This tensor is empty: its axis L has size 0.');
    expect(emptyWords([0], [''])).toBe('This tensor is empty: its axis 0 has size 0.');
    expect(emptyWords([0, 0], ['B', 'L'])).toBe('This tensor is empty: its axes B, L have size 0.');
  });
});

it('names a cell by its axes', () => {
  const plane = replyOf([], 192, 197, {
    shape: [2, 384, 197],
    axes: ['B', 'D', 'L'],
    rowCount: 384,
    columnCount: 197,
    reduced: true,
  });
  const slice = { rowAxis: 1, columnAxis: 2, index: [1, 0, 0] };
  expect(cellPlace(plane, slice, 6, 57)).toBe('B 1 · D 12-13 · L 57');
});

describe('sizes', () => {
  const space = { width: 280, height: 400 };
  it('fill the width and stay within the height', () => {
    expect(pictureSize(384, 197, space)).toEqual({ width: 280, height: 400 });
    expect(pictureSize(16, 384, space)).toEqual({ width: 280, height: 96 });
  });
  it('do not blow up a few cells', () => {
    expect(pictureSize(4, 4, space)).toEqual({ width: 88, height: 88 });
  });
  it('give round ticks', () => {
    expect(axisTicks(0, 197, 5)).toEqual([0, 50, 100, 150]);
    expect(axisTicks(37, 10, 3)).toEqual([40, 45]);
    expect(axisTicks(0, 3, 10)).toEqual([0, 1, 2]);
    expect(axisTicks(0, 0, 10)).toEqual([]);
  });
  it('draw a curve with gaps', () => {
    expect(curvePath(Float32Array.from([0, 1, Number.NaN, 0.5]), 0, 1)).toBe('M0.5 1L1.5 0M3.5 0.5');
    expect(curvePath(Float32Array.from([2, 2]), 2, 2)).toBe('M0.5 1L1.5 1');
  });
});
