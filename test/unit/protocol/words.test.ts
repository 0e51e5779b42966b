import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BreakpointSpecError,
  formatBreakpointText,
  matchGlob,
  parseBreakpointName,
  parseHitCondition,
  parseLogMessage,
  splitBreakpointText,
} from '../../../src/protocol/breakpointSpec';
import { formatBytes, formatElement, formatNumber, formatShare } from '../../../src/protocol/numbers';
import { formatSite, layerOf, parseSite, type Site } from '../../../src/protocol/site';
import { formatSummary, type Summary, sparkline } from '../../../src/protocol/summary';

describe('sites', () => {
  it('have one text form', () => {
    const site: Site = {
      module: 'layers.3.mixer',
      op: 'selective_scan',
      direction: 'backward',
      t: 57,
      d: 12,
      n: 3,
      pass: 'backward',
      occurrence: 2,
    };
    expect(formatSite(site)).toBe('layers.3.mixer:selective_scan backward t=57 d=12 n=3 grad #2');
  });

  it('are read back as they were written', () => {
    const index = fc.option(fc.nat(999), { nil: undefined });
    const site = fc.record({
      module: fc.constantFrom('', 'layers.3.mixer', 'head'),
      op: fc.constantFrom(undefined, 'selective_scan', 'linear'),
      direction: fc.constantFrom(undefined, 'forward' as const, 'backward' as const),
      t: index,
      d: index,
      n: index,
      pass: fc.constantFrom(undefined, 'backward' as const),
      occurrence: index,
    });
    fc.assert(
      fc.property(site, (s) => {
        expect(parseSite(formatSite(s))).toEqual(JSON.parse(JSON.stringify(s)));
      }),
    );
  });

  it('refuse what is not understood', () => {
    expect(() => parseSite('layers.3 sideways')).toThrow(
      '"sideways" in the site "layers.3 sideways" is not understood',
    );
  });

  it('know their layer', () => {
    expect(layerOf('layers.12.mixer.in_proj')).toBe(12);
    expect(layerOf('head')).toBeUndefined();
  });
});

describe('numbers', () => {
  it.each([
    [0, '0'],
    [1, '1'],
    [0.4213, '0.421'],
    [-0.0009999, '-0.001'],
    [0.00012345, '0.000123'],
    [9.8e-5, '9.8e-5'],
    [123456, '1.23e5'],
    [12345.678, '1.23e4'],
    [9999, '9999'],
    [1e4, '1e4'],
    [NaN, 'NaN'],
    [Infinity, 'Inf'],
    [-Infinity, '-Inf'],
  ])('%d is written %s', (x, text) => expect(formatNumber(x)).toBe(text));

  it('keep float32 precision in single elements', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (x) => {
        const back = Number(formatElement(x));
        expect(Math.abs(back - x)).toBeLessThanOrEqual(Math.abs(x) * 1e-6);
      }),
    );
  });

  it('have units and shares', () => {
    expect(formatBytes(1_500_000)).toBe('1.5 MB');
    expect(formatShare(12, 75648, 'NaN')).toBe('12 NaN, 0.0159 %');
  });
});

describe('the one-line form', () => {
  const summary: Summary = {
    dtype: 'float32',
    device: 'cpu',
    shape: [1, 384, 197],
    strides: [75648, 197, 1],
    contiguous: true,
    numel: 75648,
    nan: 0,
    posInf: 0,
    negInf: 0,
    zeros: 0,
    min: 9.8e-4,
    max: 0.42,
    mean: 0.031,
    std: 0.027,
    absmax: 0.42,
    histogram: [1, 4, 8, 5, 2, 1],
  };

  it('leaves defaults out', () => {
    expect(formatSummary(summary)).toBe('[1, 384, 197] ∈ [0.00098 ▂▅█▅▃▂ 0.42] μ 0.031 σ 0.027');
  });

  it('counts what is wrong, at the end', () => {
    const wrong = { ...summary, dtype: 'float16', device: 'cuda:0', nan: 12, posInf: 1, contiguous: false };
    expect(formatSummary(wrong)).toBe(
      'float16 [1, 384, 197] cuda:0 ∈ [0.00098 ▂▅█▅▃▂ 0.42] μ 0.031 σ 0.027 · NaN 12 · +Inf 1 · strides (75648, 197, 1)',
    );
  });

  it('says what is special of constant, single, empty and lost tensors', () => {
    expect(formatSummary({ ...summary, min: 1, max: 1 })).toBe('[1, 384, 197] all 1');
    expect(formatSummary({ ...summary, shape: [], numel: 1 })).toBe('[] = 0.00098');
    const none = { ...summary, min: null, max: null, mean: null, std: null, absmax: null };
    expect(formatSummary({ ...none, shape: [0], numel: 0 })).toBe('[0] · empty');
    expect(formatSummary({ ...none, nan: 75648 })).toBe('[1, 384, 197] · NaN 75,648');
  });

  it('draws a histogram of any length in six characters', () => {
    expect(sparkline([0, 0, 0])).toBe('');
    expect(sparkline(Array.from({ length: 64 }, (_, i) => i))).toHaveLength(6);
  });
});

describe('breakpoint names', () => {
  it.each([
    ['selective_scan', { kind: 'boundary', boundary: 'selective_scan', phase: 'entry' }],
    [' selective_scan:step ', { kind: 'boundary', boundary: 'selective_scan', phase: 'step' }],
    ['causal_conv1d:exit', { kind: 'boundary', boundary: 'causal_conv1d', phase: 'exit' }],
    ['layers.*.norm:exit', { kind: 'module', glob: 'layers.*.norm', phase: 'exit' }],
  ])('%s', (name, target) => expect(parseBreakpointName(name)).toEqual(target));

  it.each(['', ':exit', 'layers.3:step', 'causal_conv1d:step', 'selective_scan:soon', 'a b'])(
    'refuses "%s"',
    (name) => {
      expect(() => parseBreakpointName(name)).toThrow(BreakpointSpecError);
    },
  );

  it('match globs part by part', () => {
    expect(matchGlob('layers.*.norm')('layers.12.norm')).toBe(true);
    expect(matchGlob('layers.*')('layers.1.mixer')).toBe(false);
    expect(matchGlob('layers.**')('layers.1.mixer.in_proj')).toBe(true);
    expect(matchGlob('layers.?')('layers.12')).toBe(false);
  });

  it('carry a log message', () => {
    const text = formatBreakpointText('selective_scan:exit', 'y {y.max()}');
    expect(splitBreakpointText(text)).toEqual({ name: 'selective_scan:exit', logMessage: 'y {y.max()}' });
    expect(splitBreakpointText('layers.3')).toEqual({ name: 'layers.3' });
  });
});

describe('hit counts and log messages', () => {
  it.each([
    ['5', [5]],
    ['== 5', [5]],
    ['>= 5', [5, 6, 7, 8, 9, 10]],
    ['> 8', [9, 10]],
    ['< 3', [1, 2]],
    ['<=2', [1, 2]],
    ['% 4', [4, 8]],
  ])('%s', (text, hits) => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].filter(parseHitCondition(text))).toEqual(hits);
  });

  it.each(['', 'often', '% 0', '-1', '1.5'])('refuses the hit count "%s"', (text) => {
    expect(() => parseHitCondition(text)).toThrow('is not understood');
  });

  it('split at braces', () => {
    expect(parseLogMessage('a {x.max()} b {{c}} {d[{1}]}')).toEqual([
      { text: 'a ' },
      { expression: 'x.max()' },
      { text: ' b {c} ' },
      { expression: 'd[{1}]' },
    ]);
    expect(() => parseLogMessage('a {x')).toThrow('without its "}"');
  });
});
