import { siluOf, softplusOf } from '../../kernels/activation';
import { siluBackward, softplusBackward } from '../../kernels/backward/activation';
import { sumTo } from '../../kernels/backward/sum';
import {
  add as addOf,
  exp as expOf,
  mul as mulOf,
  neg as negOf,
  scale as scaleOf,
} from '../../kernels/elementwise';
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

function binary(
  name: string,
  run: (a: Tensor, b: Tensor, y: Tensor) => void,
  backward: BackwardRule,
): OpKind {
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
    run: ({ a, b }, { y }) => run(a, b, y),
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

/** The gradient of one factor: dy times the other, in the shape of `to`. */
function factorGradient(dy: Tensor, other: Tensor, to: Tensor): void {
  if (shapeText(to.shape) === shapeText(dy.shape)) {
    mulOf(dy, other, to);
    return;
  }
  const product = new Tensor(new Float32Array(dy.numel), dy.shape);
  mulOf(dy, other, product);
  sumTo(product, to);
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
export const exp = unary('exp', expOf, {
  reads: ['y'],
  run: ({ y, dy }, { dx }) => mulOf(y, dy, dx),
});

export const neg = unary('neg', negOf, { run: ({ dy }, { dx }) => negOf(dy, dx) });

export const scale = unary('scale', (x, y, a) => scaleOf(x, a.by as number, y), {
  run: ({ dy }, { dx }, a) => scaleOf(dy, a.by as number, dx),
});

export const add = binary('add', addOf, {
  passes: ['a', 'b'],
  run: ({ dy }, { da, db }) => {
    if (da) sumTo(dy, da);
    if (db) sumTo(dy, db);
  },
});

export const mul = binary('mul', mulOf, {
  reads: ['a', 'b'],
  run: ({ a, b, dy }, { da, db }) => {
    if (da) factorGradient(dy, b, da);
    if (db) factorGradient(dy, a, db);
  },
});
