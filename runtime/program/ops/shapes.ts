import { maxBackward, meanBackward } from '../../kernels/backward/reduction';
import { sumTo } from '../../kernels/backward/sum';
import { copy } from '../../kernels/elementwise';
import { maxOf, meanOf } from '../../kernels/reduction';
import { type Tensor, view } from '../../tensor/tensor';
import { type BackwardRule, type OpKind, requireShape, shapeText } from '../op';

/** Joins x0, x1, ... along an axis, on which their sizes are given too. A batch of 1 is repeated to the largest batch, as class tokens need. */
export const concat: OpKind = {
  name: 'concat',
  infer: (inputs, a) => {
    const values = Object.values(inputs);
    const axis = a.axis as number;
    const batch = Math.max(...values.map((x) => x.shape[0]));
    const shape = [batch, ...values[0].shape.slice(1)];
    for (const x of values) {
      const fits =
        x.shape.length === shape.length &&
        x.shape.every((n, i) => i === axis || n === shape[i] || (i === 0 && n === 1));
      requireShape(
        fits,
        () => `concat along axis ${axis} cannot join ${values.map((v) => shapeText(v.shape)).join(' and ')}`,
      );
    }
    shape[axis] = values.reduce((n, x) => n + x.shape[axis], 0);
    return { y: { shape, axes: values[0].axes } };
  },
  run: (inputs, { y }, a) => {
    const axis = a.axis as number;
    let start = 0;
    for (const x of Object.values(inputs)) {
      const part = y.with(view.slice(y, axis, start, start + x.shape[axis]));
      for (let b = 0; b < y.shape[0]; b++) {
        const from = x.with(view.select(x, 0, x.shape[0] === 1 ? 0 : b));
        copy(from, part.with(view.select(part, 0, b)));
      }
      start += x.shape[axis];
    }
  },
  backward: {
    run: ({ dy }, gradients, a) => {
      let start = 0;
      (a.sizes as readonly number[]).forEach((size, i) => {
        const part = dy.with(view.slice(dy, a.axis as number, start, start + size));
        const dx = gradients[`dx${i}`];
        if (dx) sumTo(part, dx);
        start += size;
      });
    },
  },
};

type Reduce = (x: Tensor, axis: number, y: Tensor) => void;

/** Reduces one axis of x, which goes away. */
function reduction(name: string, reduce: Reduce, backward: BackwardRule): OpKind {
  return {
    name,
    infer: ({ x }, a) => {
      const axis = a.axis as number;
      requireShape(
        axis < x.shape.length,
        () => `${name} over axis ${axis} needs more axes than ${shapeText(x.shape)} has`,
      );
      const drop = <T>(xs: readonly T[]) => xs.filter((_, i) => i !== axis);
      return { y: { shape: drop(x.shape), axes: drop(x.axes) } };
    },
    run: ({ x }, { y }, a) => reduce(x, a.axis as number, y),
    backward,
  };
}

export const mean = reduction('mean', meanOf, {
  run: ({ dy }, { dx }, a) => meanBackward(dy, a.axis as number, dx),
});

export const max = reduction('max', maxOf, {
  reads: ['x', 'y'],
  run: ({ x, y, dy }, { dx }, a) => maxBackward(x, y, dy, a.axis as number, dx),
});
