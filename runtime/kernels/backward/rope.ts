import type { Tensor } from '../../tensor/tensor';
import { native } from '../native';
import { rope as turn } from '../native/rope';

/**
 * Gradient of the rotary embedding: x, dy (B, M, E), cos and sin (M', E). A pair (x0, x1) becomes
 * (x0 c0 - x1 s0, x1 c1 + x0 s1), so dx0 = dy0 c0 + dy1 s1 and dx1 = dy1 c1 - dy0 s0. With an odd M the first
 * token passes unchanged.
 */
export function ropeBackward(cos: Tensor, sin: Tensor, dy: Tensor, dx: Tensor): void {
  const simd = native();
  if (simd) turn(simd, dy, { cos, sin }, dx, true);
  else plainRopeBackward(cos, sin, dy, dx);
}

/** The same in plain TypeScript. */
export function plainRopeBackward(cos: Tensor, sin: Tensor, dy: Tensor, dx: Tensor): void {
  const [batch, tokens, width] = dy.shape;
  const first = tokens % 2;
  for (let b = 0; b < batch; b++) {
    for (let m = 0; m < tokens; m++) {
      const from = dy.offset + b * dy.strides[0] + m * dy.strides[1];
      const to = dx.offset + b * dx.strides[0] + m * dx.strides[1];
      for (let k = 0; k < width; k++) {
        const own = dy.data[from + k * dy.strides[2]];
        const at = to + k * dx.strides[2];
        if (m < first) dx.data[at] = own;
        else {
          const pair = dy.data[from + (k ^ 1) * dy.strides[2]] * sin.at(m - first, k ^ 1);
          dx.data[at] = own * cos.at(m - first, k) + (k % 2 === 0 ? pair : -pair);
        }
      }
    }
  }
}
