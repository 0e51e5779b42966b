import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  ExpressionError,
  evaluate,
  parseExpression,
  Sequence,
  TensorValue,
  type Value,
} from '../../../runtime/expression';
import type { DType } from '../../../runtime/tensor/dtype';
import { Tensor } from '../../../runtime/tensor/tensor';

/** Made by make_torch.py beside it: what PyTorch 2.13 says about expressions over tensors. */
const fixture: { tensors: Record<string, EncodedTensor>; cases: Case[] } = JSON.parse(
  readFileSync(new URL('../../fixtures/expression/torch.json', import.meta.url), 'utf8'),
);

interface Case {
  text: string;
  value?: Encoded;
  /** PyTorch's exception. */
  error?: string;
}

type Encoded =
  | number
  | boolean
  | string
  | null
  | EncodedTensor
  | { float: string }
  | { tuple: Encoded[] }
  | { list: Encoded[] };

interface EncodedTensor {
  dtype: DType;
  shape: number[];
  data: Encoded[];
}

const tensors = new Map<string, Value>(
  Object.entries(fixture.tensors).map(([name, { dtype, shape, data }]) => {
    const elements = Float32Array.from(data.map((x) => Number(decode(x))));
    return [name, new TensorValue(new Tensor(elements, shape, undefined, 0, dtype))];
  }),
);
const scope = { get: (name: string) => tensors.get(name), names: () => [...tensors.keys()] };

function decode(value: Encoded): unknown {
  if (value === null || typeof value !== 'object') return value;
  if ('tuple' in value) return { tuple: value.tuple.map(decode) };
  if ('list' in value) return { list: value.list.map(decode) };
  if ('float' in value) return { nan: Number.NaN, inf: Infinity, '-inf': -Infinity }[value.float];
  return { ...value, data: value.data.map((x) => Number(decode(x))) };
}

function plain(value: Value): unknown {
  if (value instanceof Sequence) return { [value.kind]: value.items.map(plain) };
  if (!(value instanceof TensorValue)) return value;
  const { dtype, shape } = value.tensor;
  return {
    dtype,
    shape: [...shape],
    data: shape.length ? Array.from(value.tensor.toArray()) : [value.item()],
  };
}

function expectClose(actual: unknown, expected: unknown): void {
  if (typeof expected === 'number' && typeof actual === 'number' && Number.isFinite(expected)) {
    expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-6 + 4e-6 * Math.abs(expected));
  } else if (isTensor(expected) && isTensor(actual)) {
    expect(actual.shape).toEqual(expected.shape);
    expect(actual.dtype).toBe(expected.dtype);
    for (const [i, x] of expected.data.entries()) expectClose(actual.data[i], x);
  } else expect(actual).toEqual(expected);
}

function isTensor(value: unknown): value is { dtype: string; shape: number[]; data: number[] } {
  return typeof value === 'object' && value !== null && 'dtype' in value;
}

describe('agrees with PyTorch', () => {
  test.each(fixture.cases.filter((c) => c.error === undefined))('$text', ({ text, value }) => {
    expectClose(plain(evaluate(parseExpression(text), scope)), decode(value!));
  });

  test.each(fixture.cases.filter((c) => c.error !== undefined))('$text raises', ({ text }) => {
    expect(() => evaluate(parseExpression(text), scope)).toThrow(ExpressionError);
  });
});
