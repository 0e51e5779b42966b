import { sumTo } from '../../kernels/backward/sum';
import { map, zip } from '../../kernels/elementwise';
import { Tensor } from '../../tensor/tensor';
import { type Attributes, type OpKind, requireShape, shapeText } from '../op';
import { broadcast } from './elementwise';

/** Ops of single elements that a loss may be written with, each by its value and its slope. */

/** `f` of each element; `slope` is its derivative, from x and y = f(x). */
function pointwise(
  name: string,
  f: (x: number, by: number) => number,
  slope: (x: number, y: number, by: number) => number,
): OpKind {
  const by = (a: Attributes) => (a.by ?? 0) as number;
  return {
    name,
    infer: ({ x }) => ({ y: { shape: x.shape, axes: x.axes } }),
    run: ({ x }, { y }, a) => map(x, y, (v) => f(v, by(a))),
    backward: {
      reads: ['x', 'y'],
      run: ({ x, y, dy }, { dx }, a) => {
        const slopes = like(dx);
        zip(x, y, slopes, (v, w) => slope(v, w, by(a)));
        zip(slopes, dy, dx, (s, d) => s * d);
      },
    },
  };
}

function like(x: Tensor): Tensor {
  return new Tensor(new Float32Array(x.numel), x.shape);
}

export const abs = pointwise('abs', Math.abs, Math.sign);
export const log = pointwise('log', Math.log, (x) => 1 / x);
export const sqrt = pointwise('sqrt', Math.sqrt, (_, y) => 0.5 / y);
export const tanh = pointwise('tanh', Math.tanh, (_, y) => 1 - y * y);
export const relu = pointwise(
  'relu',
  (x) => Math.max(x, 0),
  (x) => (x > 0 ? 1 : 0),
);
export const sigmoid = pointwise(
  'sigmoid',
  (x) => 1 / (1 + Math.exp(-x)),
  (_, y) => y * (1 - y),
);
/** x + by. */
export const shift = pointwise(
  'shift',
  (x, by) => x + by,
  () => 1,
);
/** x ** by; the slope of x ** 0 is 0 everywhere, as in PyTorch. */
export const pow = pointwise(
  'pow',
  (x, by) => x ** by,
  (x, _, by) => (by === 0 ? 0 : by * x ** (by - 1)),
);

/** `f` of each pair, broadcast; `slopes` are its derivatives by a and by b. */
function pairwise(
  name: string,
  f: (a: number, b: number) => number,
  slopes: readonly [(a: number, b: number) => number, (a: number, b: number) => number],
): OpKind {
  return {
    name,
    infer: ({ a, b }) => {
      const shape = broadcast(a.shape, b.shape);
      requireShape(
        shape !== undefined,
        () => `${name} cannot broadcast ${shapeText(a.shape)} and ${shapeText(b.shape)}`,
      );
      return { y: { shape, axes: a.shape.length >= b.shape.length ? a.axes : b.axes } };
    },
    run: ({ a, b }, { y }) => zip(a, b, y, f),
    backward: {
      reads: ['a', 'b'],
      run: ({ a, b, dy }, { da, db }) => {
        [da, db].forEach((to, i) => {
          if (!to) return;
          const product = like(dy);
          zip(a, b, product, slopes[i]);
          zip(product, dy, product, (s, d) => s * d);
          sumTo(product, to);
        });
      },
    },
  };
}

export const sub = pairwise('sub', (a, b) => a - b, [() => 1, () => -1]);
export const div = pairwise('div', (a, b) => a / b, [(_, b) => 1 / b, (a, b) => -a / (b * b)]);
