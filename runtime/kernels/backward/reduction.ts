import type { Tensor } from '../../tensor/tensor';
import { scale } from '../elementwise';
import { withAxis } from '../reduction';

/** Gradient of the mean over an axis: each of its n elements gets dy / n. */
export function meanBackward(dy: Tensor, axis: number, dx: Tensor): void {
  const n = dx.shape[axis];
  scale(dy.with(withAxis(dy, axis, n, 0)), 1 / n, dx);
}

/** Gradient of the largest element over an axis: the first that is as large as y gets dy, the others 0. */
export function maxBackward(x: Tensor, y: Tensor, dy: Tensor, axis: number, dx: Tensor): void {
  const n = x.shape[axis];
  for (let k = 0; k < y.numel; k++) {
    const index = y.indexOf(k);
    const largest = y.at(...index);
    let open = true;
    for (let i = 0; i < n; i++) {
      const place = index.toSpliced(axis, 0, i);
      const hit = open && Object.is(x.at(...place) + 0, largest + 0);
      if (hit) open = false;
      dx.data[positionOf(dx, place)] = hit ? dy.at(...index) : 0;
    }
  }
}

function positionOf(x: Tensor, index: readonly number[]): number {
  return index.reduce((at, i, axis) => at + i * x.strides[axis], x.offset);
}
