import { describe, expect, test } from 'vitest';
import {
  checkNames,
  describeComparison,
  ExpressionError,
  evaluate,
  formatForLog,
  formatValue,
  parseExpression,
  TensorValue,
  truth,
  type Value,
} from '../../../runtime/expression';
import { Tensor } from '../../../runtime/tensor/tensor';
import { filled, scanScope, scopeOf, vector } from './scope';

const NAN = Number.NaN;
const scope = scanScope();

function valueIn(text: string, within = scope): Value {
  return evaluate(parseExpression(text), within);
}

function errorOf(action: () => unknown): ExpressionError {
  try {
    action();
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

describe('conditions', () => {
  test.each([
    ['layer == 3 and direction == "backward" and delta.max() > 0.1', true],
    ['layer in [1, 3] and direction in ("forward", "backward")', true],
    ['direction.startswith("back") and "ward" in direction', true],
    ['0 < delta.max() < 0.1', false],
    ['nan(bad)', true],
    ['nan(delta)', false],
    ['not nan(delta) and nonfinite(bad) == 3 and inf(bad) == 2', true],
    ['h is None', true],
    ['delta is not None', true],
    ['(delta > 0.1).any() and not (delta > 0.1).all()', true],
    ['((delta > 0.4) & (delta < 0.5)).sum() == 1', true],
    ['delta[0, 3:5].mean() < 1', true],
    ['delta[..., -1].shape == (1, 384)', true],
    ['absmax(delta) == delta.abs().max()', true],
    ['bad.max() > 3', false],
    ['delta.max() if layer == 3 else 0', true],
    ['t % 10 == 7 and t // 10 == 5', true],
    ['-t ** 2 == -3249', true],
    ['not layer == 4', true],
    ['u', true],
  ])('%s is %j', (text, expected) => {
    expect(truth(valueIn(text), text)).toBe(expected);
  });

  test('and, or and the conditional evaluate no more than they need', () => {
    expect(valueIn('layer == 4 and unknown')).toBe(false);
    expect(valueIn('layer == 3 or unknown')).toBe(true);
    expect(valueIn('1 if layer else unknown')).toBe(1);
    expect(valueIn('0 > layer > unknown')).toBe(false);
    expect(valueIn('None or "a"')).toBe('a');
    expect(valueIn('0 and 1')).toBe(0);
  });
});

describe('functions', () => {
  const within = scopeOf({ a: vector(3, 4), b: vector(4, 3), zero: vector(0, 0), n: vector(1, NAN), k: -7 });

  test.each<[string, Value]>([
    ['nan(n)', 1],
    ['nan(float("nan"))', 1],
    ['inf(1)', 0],
    ['nonfinite(float("-inf"))', 1],
    ['absmax(k)', 7],
    ['cosine(a, b)', 0.96],
    ['cosine(a, zero)', 0],
    ['rel(a, b)', 0.25],
    ['rel(a, a)', 0],
    ['rel(a, zero)', Infinity],
    ['rel(n, a)', NAN],
    ['len(a)', 2],
    ['len("abc")', 3],
    ['int(-2.7)', -2],
    ['float(a[0])', 3],
    ['bool(a[0])', true],
    ['round(2.675, 2)', 2.67],
    ['round(0.5)', 0],
    ['isnan(k)', false],
    ['sum((1, 2, 3))', 6],
    ['any([0, "", None])', false],
    ['max(k, 2, 5.5)', 5.5],
    ['min([3, k])', -7],
    ['norm(a).item()', 5],
    ['mean(a).item()', 3.5],
    ['sum(a).item()', 7],
    ['std(a).item()', Math.fround(Math.SQRT1_2)],
    ['a.dtype', 'float32'],
    ['a.dtype == torch.float32', true],
    ['a.device', 'cpu'],
    ['a.max(dim=0).values.item()', 4],
    ['torch.norm(a, p=1).item()', 7],
    ['math.floor(2.5)', 2],
  ])('%s is %j', (text, expected) => {
    expect(valueIn(text, within)).toBe(expected);
  });

  test('a count stays exact above what float32 holds', () => {
    const wide = new TensorValue(new Tensor(Float32Array.of(1), [20_000_001], [0]));
    expect((valueIn('x.count_nonzero()', scopeOf({ x: wide })) as TensorValue).item()).toBe(20_000_001);
  });

  test('a temporary tensor that is too large is refused', () => {
    const wide = scopeOf({ x: filled([9000], (k) => k) });
    const error = errorOf(() => valueIn('(x[:, None] * x).max()', wide));
    expect(error.message).toBe(
      'This would make a temporary tensor of 81,000,000 elements, more than the 67,108,864 allowed; take a slice or a statistic first.',
    );
  });
});

describe('errors', () => {
  test.each([
    [
      'delta > 0.1',
      '`delta > 0.1` has 75,648 elements and no single truth value; write (delta > 0.1).any(), .all(), or delta.max() > 0.1.',
    ],
    [
      '0.1 >= delta[0]',
      '`0.1 >= delta[0]` has 75,648 elements and no single truth value; write (0.1 >= delta[0]).any(), .all(), or 0.1 >= delta[0].min().',
    ],
    [
      '(bad + 1) < 2',
      '`(bad + 1) < 2` has 6 elements and no single truth value; write ((bad + 1) < 2).any(), .all(), or (bad + 1).min() < 2.',
    ],
    [
      'bad',
      '`bad` has 6 elements and no single truth value; write bad.any(), .all(), or a statistic such as bad.absmax() > 0.1.',
    ],
    ['bad == 1', '`bad == 1` has 6 elements and no single truth value; write (bad == 1).any() or .all().'],
    ['bad[0:0]', '`bad[0:0]` has no elements and no truth value; write bad[0:0].numel() > 0.'],
  ])('%s has no truth value, as a condition and inside one', (text, message) => {
    expect(errorOf(() => truth(valueIn(text), text)).message).toBe(message);
    const inside = errorOf(() => valueIn(`layer == 3 and (${text}) or 1`));
    expect(inside).toMatchObject({ column: 16, message });
    expect(errorOf(() => valueIn(`not ${text}`)).message).toBe(message);
  });

  test.each([
    ['delta.maxx()', 'A tensor has no .maxx; did you mean max?', 1],
    ['1 + delta.max', '.max is a method; write delta.max().', 5],
    ['delta.shape()', '.shape is not a method; write it without ( ).', 1],
    ['layer.max()', 'The number 3 has no .max.', 1],
    ['direction.max()', /^A string has no \.max\. Known: startswith, endswith/, 1],
    ['dleta.max()', /^dleta is not known here; did you mean delta\? Known names: bad, delta, direction/, 1],
    ['1 + qqq', /^qqq is not known here\. Known names: bad, delta/, 5],
    ['backward == 1', 'backward is not known here; write "backward" in quotes.', 1],
    ['nan > 1', 'nan is a function; write e.g. nan(x).', 1],
    ['nans(u)', /^There is no function nans\(\); did you mean nan\? Functions: nan, inf/, 1],
    ['median(u)', 'median is a method of tensors; write x.median().', 1],
    ['delta(0)', 'delta is not a function; write delta[...] to index it.', 1],
    ['delta.max(dims=0)', 'max() was given an unknown argument "dims". It takes: dim, keepdim.', 1],
    ['delta.mean(3)', 'dim=3 does not exist in a tensor of rank 3; choose -3 to 2.', 1],
    ['nan()', 'nan() was given no "x". It takes: x.', 1],
    ['delta[0, 999]', 'Index 999 is out of range for an axis of size 384.', 1],
    ['delta + bad', /Shapes \(1, 384, 197\) and \(2, 3\) do not fit: 384 is not 2 on axis -2\./, 1],
    ['t > 1 & delta > 0', /"&" needs booleans, .* write \(x > 0\) & \(y > 0\)\./, 5],
    ['~True', '"~" of True is -2 in Python; write not.', 1],
    ['layer is 3', '"is" is only for None; write ==.', 1],
    ['1 / 0', 'A number is divided by zero.', 1],
    ['2 + "a"', '"+" does not work on the number 2 and a string.', 1],
    ['"a" < 1', '"<" does not work on a string and the number 1.', 1],
    ['(delta > 0).mean()', 'mean() needs floating point, and this tensor is bool; write .float().mean().', 1],
    ['bad[9:].max()', /max\(\) of an empty tensor, of shape \(0, 3\), has no value/, 1],
    ['rel(delta, bad)', /rel\(\) needs two tensors of one shape/, 1],
    ['max(delta, u)', /max\(\) of several values takes single ones/, 1],
    ['3 in 4', '"in" needs a tuple, a list or a string on its right, not the number 4.', 1],
  ])('%s', (text, message, column) => {
    const error = errorOf(() => valueIn(text));
    if (typeof message === 'string') expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
    expect(error.column).toBe(column);
  });

  test('checkNames finds what can never be known', () => {
    const check = (text: string) => checkNames(parseExpression(text), ['delta', 'layer']);
    expect(() => check('layer == 3 and nan(delta) and torch.isnan(delta).any() < math.inf')).not.toThrow();
    expect(errorOf(() => check('layer == 3 and lyaer')).suggestion).toBe('layer');
    expect(errorOf(() => check('layer or lenn(delta)')).suggestion).toBe('len');
    expect(errorOf(() => check('layer or delta.meen() > 1'))).toMatchObject({
      suggestion: 'mean',
      column: 16,
    });
    expect(errorOf(() => check('delta[x].max(dim=y)')).column).toBe(7);
  });

  test('a name that the scope lists but cannot give now says so', () => {
    const late = { get: () => undefined, names: () => ['h'] };
    expect(errorOf(() => valueIn('h.max()', late)).message).toBe('h has no value here.');
  });
});

describe('formatValue', () => {
  test.each([
    ['True', 'True'],
    ['None', 'None'],
    ['"a\\n"', '"a\\n"'],
    ['(1,)', '(1,)'],
    ['[1.5, "a", (2, 30000)]', '[1.5, "a", (2, 30000)]'],
    ['0.1 + 0.2', '0.3'],
    ['12345', '12,345'],
    ['1e20', '1e20'],
    ['1.23456e-7', '1.23e-7'],
    ['-0.0', '0'],
    ['float("nan")', 'NaN'],
    ['u', '2'],
    ['u > 1', 'True'],
    ['delta.max()', '0.42'],
    ['delta.argmax()', '1,000'],
    ['delta.numel()', '75,648'],
    ['delta.shape', '(1, 384, 197)'],
    ['bad[0:0]', '[0, 3] · empty'],
  ])('%s is written %s', (text, written) => {
    expect(formatValue(valueIn(text))).toBe(written);
  });

  test('a tensor of several elements is its summary', () => {
    expect(formatValue(valueIn('bad'))).toMatch(
      /^\[2, 3\] ∈ \[1 .* 3\] μ 2 σ 0\.816 · NaN 1 · \+Inf 1 · -Inf 1$/,
    );
  });

  test('a log shows a string as it is', () => {
    expect(formatForLog('backward')).toBe('backward');
    expect(formatForLog(1)).toBe('1');
  });
});

describe('describeComparison', () => {
  test.each([
    ['layer == 3 and direction == "backward" and delta.max() > 0.1', 'delta.max() = 0.42 > 0.1'],
    ['layer == 3', 'layer == 3'],
    ['nan(bad)', 'nan(bad) = 1'],
    ['nan(bad) > 0 and u >= 2', 'nan(bad) = 1 > 0 and u = 2 >= 2'],
    ['layer == 2 or bad.isnan().any()', 'bad.isnan().any() (1 of 6)'],
    ['not torch.isfinite(bad).all()', 'not torch.isfinite(bad).all() (all but 3 of 6)'],
    ['layer == 3 or nan(bad)', 'layer == 3 or nan(bad)'],
    ['0 < delta.max() < u', '0 < delta.max() = 0.42 < u = 2'],
    ['grad.max() > 0.1', 'grad.max() = 0.10004 > 0.1'],
    ['delta.max() > t / 1000', 'delta.max() = 0.42 > t / 1000 = 0.057'],
    ['delta.shape[1] == 384', 'delta.shape[1] == 384'],
    ['u == layer - 1', 'u = 2 == layer - 1 = 2'],
    ['u in (1, 2)', 'u = 2 in (1, 2)'],
    ['  unknown > 1 ', 'unknown > 1'],
  ])('%s: %s', (text, expected) => {
    expect(describeComparison(parseExpression(text), scope)).toBe(expected);
  });
});
