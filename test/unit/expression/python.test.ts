import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  ExpressionError,
  evaluate,
  parseExpression,
  Sequence,
  type Value,
} from '../../../runtime/expression';

/** Made by make_python.py beside it: what Python 3.11 says about random expressions. */
const fixture: { names: Record<string, Value>; cases: Case[] } = JSON.parse(
  readFileSync(new URL('../../fixtures/expression/python.json', import.meta.url), 'utf8'),
);

interface Case {
  text: string;
  value?: Encoded;
  /** Name of Python's exception. */
  error?: string;
}

type Encoded =
  | number
  | boolean
  | string
  | null
  | { float: string }
  | { tuple: Encoded[] }
  | { list: Encoded[] };

const scope = { get: (name: string) => fixture.names[name], names: () => Object.keys(fixture.names) };

function decode(value: Encoded): unknown {
  if (value === null || typeof value !== 'object') return value;
  if ('tuple' in value) return { tuple: value.tuple.map(decode) };
  if ('list' in value) return { list: value.list.map(decode) };
  return { nan: Number.NaN, inf: Infinity, '-inf': -Infinity }[value.float];
}

function plain(value: Value): unknown {
  if (value instanceof Sequence) return { [value.kind]: value.items.map(plain) };
  return typeof value === 'number' ? value + 0 : value;
}

function expectClose(actual: unknown, expected: unknown): void {
  if (typeof actual === 'number' && typeof expected === 'number' && Number.isFinite(expected))
    expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-14 * Math.abs(expected));
  else expect(actual).toEqual(expected);
}

describe('agrees with Python', () => {
  test.each(fixture.cases.filter((c) => c.error === undefined))('$text', ({ text, value }) => {
    expectClose(plain(evaluate(parseExpression(text), scope)), decode(value!));
  });

  test.each(fixture.cases.filter((c) => c.error !== undefined))('$text raises $error', ({ text }) => {
    expect(() => evaluate(parseExpression(text), scope)).toThrow(ExpressionError);
  });
});
