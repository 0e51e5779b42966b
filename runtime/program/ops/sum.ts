import { sumTo } from '../../kernels/backward/sum';
import { copy, expand } from '../../kernels/elementwise';
import type { Layout, Tensor } from '../../tensor/tensor';
import { type OpKind, requireShape, shapeText } from '../op';

/** The sum over `axes`, which go away. */
export const sum: OpKind = {
  name: 'sum',
  infer: ({ x }, a) => {
    const axes = a.axes as readonly number[];
    requireShape(
      axes.every((axis) => axis < x.shape.length),
      () => `sum over the axes ${axes.join(', ')} needs more axes than ${shapeText(x.shape)} has`,
    );
    const kept = <T>(xs: readonly T[]) => xs.filter((_, i) => !axes.includes(i));
    return { y: { shape: kept(x.shape), axes: kept(x.axes) } };
  },
  run: ({ x }, { y }, a) => sumTo(x, y.with(withAxes(y, a.axes as readonly number[]))),
  backward: {
    run: ({ dy }, { dx }, a) => copy(spread(dy, a.axes as readonly number[], dx), dx),
  },
};

/** y with the summed axes back in, of size 1. */
function withAxes(y: Layout, axes: readonly number[]): Layout {
  const [shape, strides] = [[...y.shape], [...y.strides]];
  for (const axis of [...axes].sort((a, b) => a - b)) {
    shape.splice(axis, 0, 1);
    strides.splice(axis, 0, 0);
  }
  return { shape, strides, offset: y.offset };
}

function spread(dy: Tensor, axes: readonly number[], dx: Tensor): Tensor {
  return expand(dy.with(withAxes(dy, axes)), dx.shape);
}
