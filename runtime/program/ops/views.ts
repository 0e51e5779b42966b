import { type Layout, view } from '../../tensor/tensor';
import { type Attributes, type Named, type OpKind, requireShape, shapeText } from '../op';
import type { Value } from '../value';

/** Ops that only look at storage in another way; they move no data and are never stepped onto. */
function viewOp(
  name: string,
  check: (x: Value, a: Attributes) => void,
  look: (x: Layout, a: Attributes) => Layout,
): OpKind {
  return {
    name,
    view: look,
    infer({ x }: Named<Value>, a) {
      check(x, a);
      const axes = a.axes ? (a.axes as string).split(' ') : sameRank(x, look(x.layout, a));
      return { y: { shape: look(x.layout, a).shape, axes } };
    },
  };
}

function sameRank(x: Value, layout: Layout): readonly string[] {
  return layout.shape.length === x.shape.length ? x.axes : [];
}

function requireAxis(x: Value, axis: number): void {
  requireShape(
    axis >= 0 && axis < x.shape.length,
    () => `axis ${axis} does not exist in ${shapeText(x.shape)}`,
  );
}

export const transpose = viewOp(
  'transpose',
  (x, a) => {
    requireAxis(x, a.a as number);
    requireAxis(x, a.b as number);
  },
  (x, a) => view.transpose(x, a.a as number, a.b as number),
);

export const flip = viewOp(
  'flip',
  (x, a) => requireAxis(x, a.axis as number),
  (x, a) => view.flip(x, a.axis as number),
);

export const slice = viewOp(
  'slice',
  (x, a) => {
    requireAxis(x, a.axis as number);
    const size = x.shape[a.axis as number];
    requireShape(
      (a.start as number) >= 0 && (a.end as number) <= size && (a.start as number) <= (a.end as number),
      () => {
        return `elements ${a.start} to ${a.end} of axis ${a.axis} do not exist in ${shapeText(x.shape)}`;
      },
    );
  },
  (x, a) => view.slice(x, a.axis as number, a.start as number, a.end as number),
);

export const select = viewOp(
  'select',
  (x, a) => {
    requireAxis(x, a.axis as number);
    requireShape(
      (a.index as number) < x.shape[a.axis as number],
      () => `element ${a.index} of axis ${a.axis} does not exist in ${shapeText(x.shape)}`,
    );
  },
  (x, a) => view.select(x, a.axis as number, a.index as number),
);

/** Every `step`-th element of an axis. */
export const every = viewOp(
  'every',
  (x, a) => requireAxis(x, a.axis as number),
  (x, a) => {
    const [axis, step] = [a.axis as number, a.step as number];
    const shape = x.shape.with(axis, Math.ceil(x.shape[axis] / step));
    return { shape, strides: x.strides.with(axis, x.strides[axis] * step), offset: x.offset };
  },
);

/** A new axis of size 1 in front of `axis`. */
export const unsqueeze = viewOp(
  'unsqueeze',
  (x, a) =>
    requireShape(
      (a.axis as number) <= x.shape.length,
      () => `no axis ${a.axis} can be made in ${shapeText(x.shape)}`,
    ),
  (x, a) => ({
    shape: x.shape.toSpliced(a.axis as number, 0, 1),
    strides: x.strides.toSpliced(a.axis as number, 0, 0),
    offset: x.offset,
  }),
);
