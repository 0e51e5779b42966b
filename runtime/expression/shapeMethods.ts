import { copy } from '../kernels/elementwise';
import { type Layout, view } from '../tensor/tensor';
import { axisOf, type Bound } from './arguments';
import { ExpressionError } from './errors';
import type { Method } from './reductions';
import { Sequence, TensorValue, temporary, type Value } from './values';

const itself: Method = { names: [], call: (x) => x };

/** Methods that ask for or change the shape; none of them moves data unless it must. */
export const SHAPE_METHODS: Readonly<Record<string, Method>> = {
  size: { names: ['dim'], call: (x, args) => extent(x.tensor.shape, args.dim) },
  stride: { names: ['dim'], call: (x, args) => extent(x.tensor.strides, args.dim) },
  dim: { names: [], call: (x) => x.tensor.rank },
  ndimension: { names: [], call: (x) => x.tensor.rank },
  numel: { names: [], call: (x) => x.tensor.numel },
  nelement: { names: [], call: (x) => x.tensor.numel },
  item: { names: [], call: item },
  is_contiguous: { names: [], call: (x) => x.tensor.contiguous },
  is_floating_point: { names: [], call: (x) => x.kind === 'float' },
  transpose: { names: ['dim0', 'dim1'], required: 2, call: transpose },
  t: { names: [], call: transposed },
  flatten: { names: [], call: flatten },
  squeeze: { names: ['dim'], call: squeeze },
  unsqueeze: { names: ['dim'], required: 1, call: unsqueeze },
  contiguous: itself,
  detach: itself,
  clone: itself,
  cpu: itself,
};

/** What a tensor has without a call. */
export const ATTRIBUTES: Readonly<Record<string, (x: TensorValue) => Value>> = {
  shape: (x) => Sequence.tuple(x.tensor.shape),
  ndim: (x) => x.tensor.rank,
  dtype: (x) => x.tensor.dtype,
  device: () => 'cpu',
  is_cuda: () => false,
  T: transposed,
  /** Of what max(dim=...) gives in PyTorch; here it gives the values themselves. */
  values: (x) => x,
};

function extent(sizes: readonly number[], dim: Value | undefined): Value {
  if (dim === undefined) return Sequence.tuple(sizes);
  if (sizes.length === 0) throw new ExpressionError('A tensor of rank 0 has no axes.');
  return sizes[axisOf(dim, sizes.length)];
}

function item(x: TensorValue): Value {
  return x.kind === 'bool' ? x.item() !== 0 : x.item();
}

function seen(x: TensorValue, layout: Layout): TensorValue {
  return new TensorValue(x.tensor.with(layout));
}

function transpose(x: TensorValue, args: Bound): Value {
  const { rank } = x.tensor;
  if (rank === 0) return x;
  return seen(x, view.transpose(x.tensor, axisOf(args.dim0!, rank), axisOf(args.dim1!, rank)));
}

function transposed(x: TensorValue): Value {
  const { rank } = x.tensor;
  if (rank > 2)
    throw new ExpressionError(
      `T needs at most two axes, and this tensor has ${rank}; write .transpose(-1, -2).`,
      undefined,
      '.transpose(-1, -2)',
    );
  return rank < 2 ? x : seen(x, view.transpose(x.tensor, 0, 1));
}

function flatten(x: TensorValue): Value {
  const { tensor } = x;
  const layout = { shape: [tensor.numel], strides: [1], offset: tensor.offset };
  if (tensor.contiguous) return seen(x, layout);
  const whole = temporary(tensor.shape, tensor.dtype);
  copy(tensor, whole);
  return new TensorValue(whole.with({ ...layout, offset: 0 }));
}

function squeeze(x: TensorValue, args: Bound): Value {
  const { shape, strides, offset, rank } = x.tensor;
  const only = args.dim === undefined ? undefined : axisOf(args.dim, rank);
  const keep = (_: number, axis: number) => shape[axis] !== 1 || (only !== undefined && only !== axis);
  return seen(x, { shape: shape.filter(keep), strides: strides.filter(keep), offset });
}

function unsqueeze(x: TensorValue, args: Bound): Value {
  const { shape, strides, offset, rank } = x.tensor;
  const axis = axisOf(args.dim!, rank + 1);
  return seen(x, { shape: shape.toSpliced(axis, 0, 1), strides: strides.toSpliced(axis, 0, 0), offset });
}
