import type { Tensor } from '../../tensor/tensor';
import { write } from './sum';

/**
 * Cross-entropy of logits (..., K) with labels (...), whole numbers below K:
 * loss = mean over rows of log(sum_k e^logits[k]) - logits[label].
 */
export function crossEntropy(logits: Tensor, labels: Tensor, loss: Tensor): void {
  let sum = 0;
  forEachRow(logits, labels, (row, label) => {
    sum += logSumExp(row) - row[label];
  });
  loss.data[loss.offset] = sum / labels.numel;
}

/** dlogits = dloss (softmax(logits) - [k = label]) / rows. */
export function crossEntropyBackward(logits: Tensor, labels: Tensor, dloss: Tensor, dlogits: Tensor): void {
  const slope = dloss.data[dloss.offset] / labels.numel;
  const out = new Float64Array(logits.numel);
  let k = 0;
  forEachRow(logits, labels, (row, label) => {
    const total = logSumExp(row);
    for (let i = 0; i < row.length; i++) {
      out[k++] = slope * (Math.exp(row[i] - total) - (i === label ? 1 : 0));
    }
  });
  write(out, dlogits);
}

function forEachRow(logits: Tensor, labels: Tensor, visit: (row: Float32Array, label: number) => void): void {
  const classes = logits.shape.at(-1)!;
  const values = logits.toArray();
  labels.toArray().forEach((label, i) => {
    if (!Number.isInteger(label) || label < 0 || label >= classes)
      throw new RangeError(`Label ${label} is not one of the ${classes} classes, 0 to ${classes - 1}.`);
    visit(values.subarray(i * classes, (i + 1) * classes), label);
  });
}

/** log(sum e^x), without overflow. */
function logSumExp(row: Float32Array): number {
  const largest = row.reduce((m, x) => Math.max(m, x), -Infinity);
  return largest + Math.log(row.reduce((sum, x) => sum + Math.exp(x - largest), 0));
}
