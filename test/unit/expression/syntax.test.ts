import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ExpressionError, evaluate, parseExpression } from '../../../runtime/expression';
import { filled, scanScope, scopeOf } from './scope';

function errorOf(text: string): ExpressionError {
  try {
    parseExpression(text);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error(`${text} was parsed.`);
}

describe('parseExpression', () => {
  test.each([
    ['layer == 3 and direction == "backward" and delta.max() > 0.1', ['layer', 'direction', 'delta']],
    ['nan(x) > inf(y)', ['x', 'y']],
    ['torch.isnan(x).any() and math.sqrt(t) > math.pi', ['x', 't']],
    ['x[a, b:c:d, ...].max(dim=e)', ['x', 'a', 'b', 'c', 'd', 'e']],
    ['a if b else (c, [d])', ['a', 'b', 'c', 'd']],
    ['1 < 2', []],
    ['Δ.max() > α_1', ['Δ', 'α_1']],
  ])('%s uses the names %j', (text, names) => {
    expect([...parseExpression(text).names()].sort()).toEqual([...names].sort());
  });

  test.each([
    ['a && b', 3, 'and'],
    ['a || b', 3, 'or'],
    ['!a', 1, 'not'],
    ['a === b', 3, '=='],
    ['a !== b', 3, '!='],
    ['a <> b', 3, '!='],
    ['a ≤ b', 3, '<='],
    ['layer = 3', 7, '== to compare'],
    ['(a := 3)', 4, '=='],
    ['x is null', 6, 'None'],
    ['x == true', 6, 'True'],
    ['x == false', 6, 'False'],
    ['x AND y', 3, 'and'],
    ['x == NaN', 6, 'nan(x) to count them, or float("nan")'],
    ['x ^ 2', 3, '** for a power'],
    ['a ? b : c', 3, 'a if condition else b'],
    ['x > 0,1', 6, 'and between conditions'],
    ['a if b', 7, 'a if c else b, or and'],
    ['f"{x}"', 1, 'a plain string'],
    ['“a”', 1, 'straight quotes'],
    ['012', 1, '12'],
    ['x[]', 3, 'e.g. x[0]'],
    ['', 1, 'e.g. delta.max() > 0.1'],
  ])('%s: the error names the column and what to write', (text, column, suggestion) => {
    const error = errorOf(text);
    expect(error).toMatchObject({ column, suggestion });
    expect(error.message.startsWith(`Column ${column}: `)).toBe(true);
    expect(error.message.endsWith(`; write ${suggestion}.`)).toBe(true);
  });

  test.each([
    ['a b', 3, 'an operator was expected, not b'],
    ['x.max() >', 10, 'the expression ends where a value was expected'],
    ['(a', 3, 'the expression ends where ")" was expected'],
    ['a)', 2, 'an operator was expected, not )'],
    ['x..y', 3, 'a name after "." was expected'],
    ['lambda: 0', 1, 'functions cannot be written'],
    ['[a for a in b]', 4, 'comprehensions are not supported'],
    ['{1}', 1, 'sets and dictionaries are not supported'],
    ['import os', 1, '"import" is a statement'],
    ['a; b', 2, 'only one expression'],
    ['a @ b', 3, 'matrix products are not supported'],
    ['a << 2', 3, 'shifts are not supported'],
    ['f(*a)', 3, '"*" in front of an argument'],
    ['f(a=1, a=2)', 8, '"a" is given twice'],
    ['f(a=1, 2)', 8, 'an argument without a name follows'],
    ['3(4)', 2, '`3` cannot be called'],
    ['...', 1, 'only known inside brackets'],
    ['"abc', 1, 'the string is not closed'],
    ['"""a"""', 1, 'triple quotes'],
    ['b"a"', 1, 'byte strings'],
    ['1__0', 1, '"1__0" is not a number'],
    ['1_', 1, '"1_" is not a number'],
    ['3px', 1, '"3px" is not a number'],
    ['2j', 1, 'complex numbers'],
    ['# no', 1, 'comments'],
    ['a \\ b', 3, 'a backslash'],
    ['a € b', 3, '"€" has no meaning'],
  ])('%s is refused at its column', (text, column, message) => {
    const error = errorOf(text);
    expect(error.column).toBe(column);
    expect(error.message).toContain(message);
  });

  test.each<[string, string, number, string]>([
    ['parentheses', `${'('.repeat(101)}1${')'.repeat(101)}`, 101, 'nested too deeply'],
    ['signs', `${'-'.repeat(101)}1`, 101, 'nested too deeply'],
    ['negations', `${'not '.repeat(101)}1`, 401, 'nested too deeply'],
    ['terms', Array(600).fill('1').join('+'), 1001, 'more than 1,000 parts'],
    ['characters', 'x'.repeat(10_001), 10_001, 'longer than 10,000 characters'],
  ])('too many %s are refused', (_, text, column, message) => {
    const error = errorOf(text);
    expect(error.column).toBe(column);
    expect(error.message).toContain(message);
  });

  test.each([
    ["'it\\'s'", "it's"],
    ['"a\\n\\t\\\\"', 'a\n\t\\'],
    ['r"\\n"', '\\n'],
    ['"\\x41\\u00e9\\U0001F600\\101"', 'Aé😀A'],
    ['"\\q"', '\\q'],
    ['"a" \'b\'', 'ab'],
    ['"in"', 'in'],
    ['0xFF_FF', 65535],
    ['0b1_0', 2],
    ['.5e-1', 0.05],
    ['1.', 1],
    ['00', 0],
    ['1_000.5', 1000.5],
  ])('the literal %s is %j', (text, value) => {
    expect(evaluate(parseExpression(text), scopeOf({}))).toBe(value);
  });
});

describe('any text', () => {
  const scanned = scanScope();
  const delta = filled([1, 5, 7], Math.sin);
  const scope = { ...scanned, get: (name: string) => (name === 'delta' ? delta : scanned.get(name)) };
  const pieces = (
    'delta bad grad u layer direction t h x 1 0.5 "a" None True ( ) [ ] , . : ... = == < > <= != + - * ** / // % & | ~ ' +
    'and or not in is if else max min any nan std dim abs len torch math isnan ^ && ! ? lambda for _'
  ).split(' ');

  /** Evaluating gives a value or an `ExpressionError`, soon. */
  function expectHarmless(text: string): void {
    const start = performance.now();
    try {
      evaluate(parseExpression(text), scope);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      expect(error.message).toMatch(/[.?]$/);
    }
    expect(performance.now() - start).toBeLessThan(2000);
  }

  test('of characters', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 40 }), expectHarmless), { numRuns: 1500 });
    fc.assert(fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 40 }), expectHarmless), {
      numRuns: 1500,
    });
  });

  test('of the words of the language', () => {
    const words = fc.array(fc.constantFrom(...pieces), { maxLength: 25 });
    fc.assert(
      fc.property(words, fc.constantFrom('', ' '), (w, gap) => expectHarmless(w.join(gap))),
      { numRuns: 3000 },
    );
  });

  test('of well formed calls', () => {
    const object = fc.constantFrom(
      'delta',
      'bad',
      'u',
      'direction',
      'layer',
      'h',
      'delta[0]',
      'bad.T',
      '(1, 2)',
    );
    const member = fc.constantFrom(
      ...'max min mean std var norm median quantile any all sum argmax abs log item numel shape size dim T flatten'.split(
        ' ',
      ),
      ...'transpose squeeze unsqueeze clamp gt round float int bool isnan stride dtype startswith'.split(' '),
    );
    const argument = fc.constantFrom(
      '',
      '0',
      '-1',
      '9',
      '0.5',
      'None',
      'True',
      '"a"',
      'u',
      'delta',
      'dim=1',
      'q=0.5',
      '1, 0',
    );
    fc.assert(
      fc.property(
        object,
        member,
        argument,
        fc.constantFrom('', ' > 1', ' + delta', '[0]', '[..., None]', ' and 1'),
        (o, m, a, end) => expectHarmless(`${o}.${m}(${a})${end}`),
      ),
      { numRuns: 3000 },
    );
  });

  test('as deep as it is accepted', () => {
    expectHarmless(Array(499).fill('1').join('+'));
    expectHarmless(`bad${'.T'.repeat(490)}`);
    expectHarmless(`bad${'[0:1]'.repeat(190)}`);
    expectHarmless(`${'('.repeat(99)}1${')'.repeat(99)}`);
    expectHarmless(`1${'**1'.repeat(99)}`);
    expectHarmless(Array(450).fill('t').join(' and '));
    expectHarmless(Array(450).fill('t').join(' < '));
  });
});
