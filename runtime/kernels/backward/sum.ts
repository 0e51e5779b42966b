import { type Layout, Tensor } from '../../tensor/tensor';
import { copy, expand } from '../elementwise';

/** sum = 0, then sum[place] += part for each part; `places` lie in the storage of `sum`. */
export function sumParts(parts: readonly Tensor[], places: readonly Layout[], sum: Tensor): void {
  sum.data.fill(0);
  parts.forEach((part, i) => {
    const values = part.toArray();
    let k = 0;
    sum.with(places[i]).forEachRow((at, step, length) => {
      for (let j = 0; j < length; j++, at += step) sum.data[at] += values[k++];
    });
  });
}

/** to = x summed over the axes along which `to` was broadcast to x's shape. */
export function sumTo(x: Tensor, to: Tensor): void {
  if (x.rank === to.rank && x.shape.every((size, axis) => size === to.shape[axis])) {
    copy(x, to);
    return;
  }
  const sums = new Float64Array(to.numel);
  const wide = expand(new Tensor(to.data, to.shape), x.shape);
  const values = x.toArray();
  const index = new Array<number>(x.rank).fill(0);
  for (let k = 0, at = 0; k < values.length; k++) {
    sums[at] += values[k];
    for (let axis = x.rank - 1; axis >= 0; axis--) {
      at += wide.strides[axis];
      if (++index[axis] < x.shape[axis]) break;
      at -= wide.strides[axis] * x.shape[axis];
      index[axis] = 0;
    }
  }
  write(sums, to);
}

/** Writes row-major values into a tensor of any strides. */
export function write(values: ArrayLike<number>, to: Tensor): void {
  let k = 0;
  to.forEachRow((at, step, length) => {
    for (let i = 0; i < length; i++, at += step) to.data[at] = values[k++];
  });
}
