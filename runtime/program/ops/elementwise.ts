import { siluOf, softplusOf } from '../../kernels/activation';
import { siluBackward, softplusBackward } from '../../kernels/backward/activation';
import { sumTo } from '../../kernels/backward/sum';
import { map, zip } from '../../kernels/elementwise';
import { Tensor } from '../../tensor/tensor';
import { type Attributes, type BackwardRule, type Named, type OpKind, requireShape, shapeText } from '../op';
import type { Value } from '../value';

function unary(
  name: string,
  run: (x: Tensor, y: Tensor, a: Attributes) => void,
  backward: BackwardRule,
): OpKind {
  return {
    name,
    infer: ({ x }: Named<Value>) => ({ y: { shape: x.shape, axes: x.axes } }),
    run: ({ x }, { y }, a) => run(x, y, a),
    backward,
  };
}

function binary(name: string, f: (a: number, b: number) => number, backward: BackwardRule): OpKind {
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
    backward,
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

/** dy times the other factor, in the shape of dy. */
function times(dy: Tensor, factor: Tensor): Tensor {
  const product = new Tensor(new Float32Array(dy.numel), dy.shape);
  zip(dy, factor, product, (d, v) => d * v);
  return product;
}

export const silu = unary('silu', siluOf, {
  reads: ['x'],
  run: ({ x, dy }, { dx }) => siluBackward(x, dy, dx),
});

export const softplus = unary('softplus', softplusOf, {
  reads: ['x'],
  run: ({ x, dy }, { dx }) => softplusBackward(x, dy, dx),
});

/** The slope of e^x is its value. */
export const exp = unary('exp', (x, y) => map(x, y, Math.exp), {
  reads: ['y'],
  run: ({ y, dy }, { dx }) => zip(y, dy, dx, (v, d) => v * d),
});

export const neg = unary('neg', (x, y) => map(x, y, (v) => -v), {
  run: ({ dy }, { dx }) => map(dy, dx, (d) => -d),
});

function scaleBy(x: Tensor, y: Tensor, a: Attributes): void {
  const by = a.by as number;
  map(x, y, (v) => v * by);
}

export const scale = unary('scale', scaleBy, { run: ({ dy }, { dx }, a) => scaleBy(dy, dx, a) });

export const add = binary('add', (a, b) => a + b, {
  run: ({ dy }, { da, db }) => {
    if (da) sumTo(dy, da);
    if (db) sumTo(dy, db);
  },
});

export const mul = binary('mul', (a, b) => a * b, {
  reads: ['a', 'b'],
  run: ({ a, b, dy }, { da, db }) => {
    if (da) sumTo(times(dy, b), da);
    if (db) sumTo(times(dy, a), db);
  },
});
