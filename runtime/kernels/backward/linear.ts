import { numel, rowMajor, Tensor, view } from '../../tensor/tensor';
import { linear } from '../linear';
import { sumTo } from './sum';

/** Gradients of a layer with weight and bias; those that are not needed are absent. */
export interface LayerGradients {
  dx?: Tensor;
  dweight?: Tensor;
  dbias?: Tensor;
}

/**
 * Gradients of y (B, M, N) = x (B, M, K) weight (N, K)^T + bias (N):
 * dx = dy weight, dweight = sum_b dy_b^T x_b, dbias = sum over B and M of dy.
 */
export function linearBackward(
  x: Tensor,
  weight: Tensor,
  dy: Tensor,
  { dx, dweight, dbias }: LayerGradients,
): void {
  if (dx) linear(dy, weight.with(view.transpose(weight, 0, 1)), undefined, dx);
  if (dweight) weightGradient(x, dy, dweight);
  if (dbias) sumTo(dy, dbias);
}

/** One matrix product over all tokens of the batch: (N, B M) times (B M, K). */
function weightGradient(x: Tensor, dy: Tensor, dweight: Tensor): void {
  const to = { shape: [1, ...dweight.shape], strides: [0, ...dweight.strides], offset: dweight.offset };
  linear(featureMajor(dy, 1), featureMajor(x, 0), undefined, dweight.with(to));
}

/** x (B, M, K) as (K, B M), with `lead` axes of size 1 before: a view where the tokens are evenly spaced. */
function featureMajor(x: Tensor, lead: number): Tensor {
  const [batch, rows, width] = x.shape;
  const [stepBatch, stepRow, stepFeature] = x.strides;
  const one = (step: number) => new Array<number>(lead).fill(step);
  const shape = [...one(1), width, batch * rows];
  if (batch === 1 || stepBatch === rows * stepRow)
    return x.with({ shape, strides: [...one(0), stepFeature, stepRow], offset: x.offset });
  return new Tensor(packed(x), shape, rowMajor(shape));
}

/** x (B, M, K) as (K, B M), row-major. */
function packed(x: Tensor): Float32Array {
  const [batch, rows, width] = x.shape;
  const [stepBatch, stepRow, stepFeature] = x.strides;
  const to = new Float32Array(numel(x.shape));
  for (let b = 0, k = 0; b < batch; b++) {
    for (let m = 0; m < rows; m++, k++) {
      let at = x.offset + b * stepBatch + m * stepRow;
      for (let j = 0; j < width; j++, at += stepFeature) to[j * batch * rows + k] = x.data[at];
    }
  }
  return to;
}
