import type { Tensor } from '../tensor/tensor';
import { native } from './native';
import { elementwise } from './native/rows';

type Unary = (x: Tensor, y: Tensor) => void;
type Binary = (a: Tensor, b: Tensor, y: Tensor) => void;

/** y = f(x), element by element, any strides: by the SIMD kernel of a name where there are any, else by `f`. */
export function unary(kernel: string, f: (x: number) => number): Unary {
  return (x, y) => {
    const simd = native();
    if (simd) elementwise(simd, kernel, [x], y);
    else map(x, y, f);
  };
}

/** y = f(a, b), with a and b broadcast to y's shape from the last axis, as in PyTorch; else like `unary`. */
export function binary(kernel: string, f: (a: number, b: number) => number): Binary {
  return (a, b, y) => {
    const simd = native();
    if (simd) elementwise(simd, kernel, [expand(a, y.shape), expand(b, y.shape)], y);
    else zip(a, b, y, f);
  };
}

/** y = e^x */
export const exp = unary('exponential', Math.exp);
/** y = -x */
export const neg = unary('neg', (x) => -x);
/** y = a + b */
export const add = binary('add', (a, b) => a + b);
/** y = a b */
export const mul = binary('mul', (a, b) => a * b);

/** y = x by */
export function scale(x: Tensor, by: number, y: Tensor): void {
  const simd = native();
  if (simd) elementwise(simd, 'scale', [x], y, by);
  else map(x, y, (v) => v * by);
}

/** Copies x into y, which has the same shape. */
export function copy(x: Tensor, y: Tensor): void {
  const simd = native();
  // Elsewhere the way into the kernels' memory would be copies too.
  if (simd?.memory.holds(x.data) && simd.memory.holds(y.data)) elementwise(simd, 'copy', [x], y);
  else map(x, y, (v) => v);
}

/** y = f(x), element by element; any strides. */
export function map(x: Tensor, y: Tensor, f: (x: number) => number): void {
  forEachRow([y, x], ([at, from], [step, stepX], length) => {
    for (let i = 0; i < length; i++, at += step, from += stepX) y.data[at] = f(x.data[from]);
  });
}

/** y = f(a, b); a and b are broadcast to y's shape from the last axis, as in PyTorch. */
export function zip(a: Tensor, b: Tensor, y: Tensor, f: (a: number, b: number) => number): void {
  const views = [y, expand(a, y.shape), expand(b, y.shape)];
  forEachRow(views, ([at, fromA, fromB], [step, stepA, stepB], length) => {
    for (let i = 0; i < length; i++, at += step, fromA += stepA, fromB += stepB) {
      y.data[at] = f(a.data[fromA], b.data[fromB]);
    }
  });
}

/** x seen with a larger shape: repeated axes get stride 0. */
export function expand(x: Tensor, shape: readonly number[]): Tensor {
  const lead = shape.length - x.rank;
  const strides = shape.map((size, axis) =>
    axis < lead || (x.shape[axis - lead] === 1 && size !== 1) ? 0 : x.strides[axis - lead],
  );
  return x.with({ shape, strides, offset: x.offset });
}

type RowVisitor = (at: number[], steps: number[], length: number) => void;

/** Walks tensors of one shape together, a run of the last axis at a time. */
function forEachRow(tensors: readonly Tensor[], visit: RowVisitor): void {
  const shape = tensors[0].shape;
  const inner = shape.length - 1;
  if (shape.includes(0)) return;
  const at = tensors.map((x) => x.offset);
  if (inner < 0) {
    visit(
      at,
      tensors.map(() => 1),
      1,
    );
    return;
  }
  const steps = tensors.map((x) => x.strides[inner]);
  const index = new Array<number>(inner).fill(0);
  for (;;) {
    visit(at, steps, shape[inner]);
    let axis = inner - 1;
    for (; axis >= 0; axis--) {
      const wrapped = ++index[axis] === shape[axis];
      const move = wrapped ? 1 - shape[axis] : 1;
      for (let k = 0; k < tensors.length; k++) at[k] += move * tensors[k].strides[axis];
      if (!wrapped) break;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}
