import type { Tensor } from '../../tensor/tensor';
import { native } from '../native';
import { type Norm, normGradient } from '../native/norm';
import type { LayerGradients } from './linear';
import { write } from './sum';

/**
 * Gradients of RMSNorm over the last axis: with r = 1 / sqrt(mean(x^2) + eps), n = x r and dn = dy weight,
 * dx = r (dn - n mean(dn n)), dweight = sum over rows of dy n, dbias = sum over rows of dy.
 */
export function rmsNormBackward(x: Tensor, weight: Tensor, dy: Tensor, eps: number, g: LayerGradients): void {
  normBackward({ x, weight, eps, centered: false }, dy, g);
}

/**
 * Gradients of LayerNorm over the last axis: with r = 1 / sqrt(var + eps), n = (x - mean) r and dn = dy weight,
 * dx = r (dn - mean(dn) - n mean(dn n)); dweight and dbias as for RMSNorm.
 */
export function layerNormBackward(
  x: Tensor,
  weight: Tensor,
  dy: Tensor,
  eps: number,
  g: LayerGradients,
): void {
  normBackward({ x, weight, eps, centered: true }, dy, g);
}

function normBackward(n: Norm, dy: Tensor, g: LayerGradients): void {
  const simd = native();
  if (!simd) {
    plainNormBackward(n, dy, g);
    return;
  }
  const sums = normGradient(simd, n, dy, g.dx);
  if (g.dweight) write(sums.weight, g.dweight);
  if (g.dbias) write(sums.bias, g.dbias);
}

/** The gradients of either norm in plain TypeScript. */
export function plainNormBackward({ x, weight, eps, centered }: Norm, dy: Tensor, g: LayerGradients): void {
  const [batch, rows, width] = x.shape;
  const w = weight.toArray();
  const row = new Float64Array(width);
  const above = new Float64Array(width);
  const weightSums = new Float64Array(width);
  const biasSums = new Float64Array(width);
  for (let b = 0; b < batch; b++) {
    for (let m = 0; m < rows; m++) {
      read(x, b, m, row);
      read(dy, b, m, above);
      const scale = normalize(row, eps, centered);
      for (let k = 0; k < width; k++) {
        weightSums[k] += above[k] * row[k];
        biasSums[k] += above[k];
        above[k] *= w[k];
      }
      if (g.dx) writeRow(row, above, scale, centered, g.dx, b, m);
    }
  }
  if (g.dweight) write(weightSums, g.dweight);
  if (g.dbias) write(biasSums, g.dbias);
}

function read(x: Tensor, b: number, m: number, to: Float64Array): void {
  let at = x.offset + b * x.strides[0] + m * x.strides[1];
  for (let k = 0; k < to.length; k++, at += x.strides[2]) to[k] = x.data[at];
}

/** Turns a row into n, in place; gives r. */
function normalize(row: Float64Array, eps: number, centered: boolean): number {
  let [sum, square] = [0, 0];
  for (let k = 0; k < row.length; k++) sum += row[k];
  const shift = centered ? sum / row.length : 0;
  for (let k = 0; k < row.length; k++) square += (row[k] - shift) ** 2;
  const scale = 1 / Math.sqrt(square / row.length + eps);
  for (let k = 0; k < row.length; k++) row[k] = (row[k] - shift) * scale;
  return scale;
}

/** One row of dx from n, dn and r. */
function writeRow(
  n: Float64Array,
  dn: Float64Array,
  scale: number,
  centered: boolean,
  dx: Tensor,
  b: number,
  m: number,
): void {
  let [sum, along] = [0, 0];
  for (let k = 0; k < n.length; k++) {
    sum += dn[k];
    along += dn[k] * n[k];
  }
  const shift = centered ? sum / n.length : 0;
  along /= n.length;
  let at = dx.offset + b * dx.strides[0] + m * dx.strides[1];
  for (let k = 0; k < n.length; k++, at += dx.strides[2]) {
    dx.data[at] = scale * (dn[k] - shift - n[k] * along);
  }
}
