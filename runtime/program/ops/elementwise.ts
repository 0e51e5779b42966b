import { siluOf, softplusOf } from '../../kernels/activation';
import { map, zip } from '../../kernels/elementwise';
import type { Tensor } from '../../tensor/tensor';
import { type Attributes, type Named, type OpKind, requireShape, shapeText } from '../op';
import type { Value } from '../value';

function unary(name: string, run: (x: Tensor, y: Tensor, a: Attributes) => void): OpKind {
  return {
    name,
    infer: ({ x }: Named<Value>) => ({ y: { shape: x.shape, axes: x.axes } }),
    run: ({ x }, { y }, a) => run(x, y, a),
  };
}

function binary(name: string, f: (a: number, b: number) => number): OpKind {
  return {
    name,
    infer: ({ a, b }: Named<Value>) => {
      const shape = broadcast(a.shape, b.shape);
      requireShape(
        shape !== undefined,
        () => `${name} cannot broadcast ${shapeText(a.shape)} and ${shapeText(b.shape)}`,
      );
      return { y: { shape, axes: a.shape.length >= b.shape.length ? a.axes : b.axes } };
    },
    run: ({ a, b }, { y }) => zip(a, b, y, f),
  };
}

/** The common shape of two shapes, aligned at the last axis; undefined when they do not fit. */
export function broadcast(a: readonly number[], b: readonly number[]): number[] | undefined {
  const rank = Math.max(a.length, b.length);
  const shape: number[] = [];
  for (let i = 1; i <= rank; i++) {
    const x = a[a.length - i] ?? 1;
    const y = b[b.length - i] ?? 1;
    if (x !== y && x !== 1 && y !== 1) return undefined;
    shape.unshift(x === 1 ? y : x);
  }
  return shape;
}

export const silu = unary('silu', siluOf);
export const softplus = unary('softplus', softplusOf);
export const exp = unary('exp', (x, y) => map(x, y, Math.exp));
export const neg = unary('neg', (x, y) => map(x, y, (v) => -v));
export const scale = unary('scale', (x, y, a) => {
  const by = a.by as number;
  map(x, y, (v) => v * by);
});
export const add = binary('add', (a, b) => a + b);
export const mul = binary('mul', (a, b) => a * b);
