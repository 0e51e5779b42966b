import { describe, expect, it } from 'vitest';
import { barsOf, zeroPosition } from '../../../webview/tensors/bars';
import {
  axisName,
  badgesOf,
  countAndShare,
  dimensions,
  factsOf,
  lineOf,
  splitName,
  spreadOf,
} from '../../../webview/tensors/shape';
import { entryOf, summaryOf } from './samples';

describe('the spread of a tensor', () => {
  it.each([
    ['unknown', null],
    ['empty', summaryOf({ shape: [0], min: null, max: null })],
    ['none', summaryOf({ min: null, max: null, nan: 12 })],
    ['single', summaryOf({ shape: [], min: 57, max: 57 })],
    ['flat', summaryOf({ min: 1, max: 1 })],
    ['range', summaryOf()],
  ])('is %s', (kind, summary) => expect(spreadOf(summary).kind).toBe(kind));

  it('has numbers of three digits', () => {
    expect(spreadOf(summaryOf({ min: 0.00098012, max: 12345 }))).toMatchObject({
      min: '0.00098',
      max: '1.23e4',
    });
  });
});

describe('badges', () => {
  const texts = (change: Parameters<typeof summaryOf>[0]) =>
    badgesOf(summaryOf(change)).map((badge) => badge.text);
  it('are none for a usual tensor', () => expect(texts({})).toEqual([]));
  it('count what is not finite, first', () => {
    expect(texts({ nan: 12, dtype: 'float16', device: 'cuda:0' })).toEqual(['NaN 12', 'float16', 'cuda:0']);
    expect(texts({ posInf: 3 })).toEqual(['+Inf 3']);
    expect(texts({ negInf: 3 })).toEqual(['-Inf 3']);
    expect(texts({ posInf: 9, negInf: 7 })).toEqual(['±Inf 16']);
  });
  it('name strides that are not the usual ones', () => {
    expect(badgesOf(summaryOf({ contiguous: false }))[0].title).toBe('Not contiguous: strides (12, 3, 1)');
  });
  it('say the share', () => expect(badgesOf(summaryOf({ nan: 3 }))[0].title).toBe('3 NaN, 25 %'));
});

describe('names', () => {
  it.each([
    ['delta', '', 'delta'],
    ['layers.0.mixer.A_log', 'layers.0.mixer.', 'A_log'],
    ['layers.0.mixer.in_proj.weight', 'layers.0.mixer.', 'in_proj.weight'],
    ['weight', '', 'weight'],
  ])('%s is cut before its last part', (name, path, leaf) => expect(splitName(name)).toEqual([path, leaf]));

  it('of axes fall back to their number', () => {
    expect(axisName(['B', ''], 0)).toBe('B');
    expect(axisName(['B', ''], 1)).toBe('axis 1');
    expect(dimensions([2, 3], ['B'])).toEqual([
      { name: 'B', size: 2 },
      { name: '', size: 3 },
    ]);
  });
});

it('has a line to copy', () => {
  expect(lineOf(entryOf('t', { summary: summaryOf({ shape: [], min: 57, max: 57 }) }))).toBe('t [] = 57');
  expect(lineOf(entryOf('t', { summary: null }))).toBe('t (not summarised)');
});

it('has facts, dull ones left out', () => {
  expect(factsOf(summaryOf()).map(([name]) => name)).toEqual([
    'min',
    'max',
    'mean μ',
    'std σ',
    'absmax',
    'values',
  ]);
  expect(factsOf(summaryOf({ nan: 3, zeros: 6 })).slice(-2)).toEqual([
    ['NaN', '3 · 25 %'],
    ['zeros', '6 · 50 %'],
  ]);
  expect(countAndShare(0, 0)).toBe('0');
});

describe('bars', () => {
  it('have the sign of their bin when a tensor has both', () => {
    expect(barsOf(summaryOf(), 4).map((bar) => bar.sign)).toEqual([
      'negative',
      'positive',
      'positive',
      'positive',
    ]);
    expect(barsOf(summaryOf({ min: 0 }), 4).every((bar) => bar.sign === 'unsigned')).toBe(true);
  });
  it('fold to the width and keep every element', () => {
    const bars = barsOf(summaryOf({ histogram: Array.from({ length: 32 }, (_, i) => i) }), 14);
    expect(bars).toHaveLength(14);
    expect(bars.reduce((n, bar) => n + bar.count, 0)).toBe((31 * 32) / 2);
  });
  it('show a single element beside a million', () => {
    const [small] = barsOf(summaryOf({ histogram: [1, 1e6] }), 2);
    expect(small.height).toBeGreaterThan(0.05);
  });
  it('are none for a flat or empty tensor', () => {
    expect(barsOf(summaryOf({ min: 1, max: 1 }), 8)).toEqual([]);
    expect(barsOf(summaryOf({ min: null, max: null }), 8)).toEqual([]);
    expect(barsOf(summaryOf({ histogram: [] }), 8)).toEqual([]);
  });
  it('know where zero lies', () => {
    expect(zeroPosition(summaryOf())).toBe(0.25);
    expect(zeroPosition(summaryOf({ min: 0 }))).toBeUndefined();
  });
});
