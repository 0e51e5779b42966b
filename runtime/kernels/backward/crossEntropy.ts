import type { Tensor } from '../../tensor/tensor';
import { exp } from '../exp';
import { type NativeKernels, native } from '../native';
import { softmax, softmaxSums } from '../native/softmax';
import { write } from './sum';

/**
 * Cross-entropy of logits (..., K) with labels (...), whole numbers below K:
 * loss = mean over rows of log(sum_k e^logits[k]) - logits[label].
 */
export function crossEntropy(logits: Tensor, labels: Tensor, loss: Tensor): void {
  const simd = native();
  const rows = threeAxes(logits);
  if (simd && rows) nativeCrossEntropy(simd, rows, labels, loss);
  else plainCrossEntropy(logits, labels, loss);
}

/** dlogits = dloss (softmax(logits) - [k = label]) / rows. */
export function crossEntropyBackward(logits: Tensor, labels: Tensor, dloss: Tensor, dlogits: Tensor): void {
  const simd = native();
  const [rows, to] = [threeAxes(logits), threeAxes(dlogits)];
  if (simd && rows && to) nativeBackward(simd, rows, labels, dloss, to);
  else plainCrossEntropyBackward(logits, labels, dloss, dlogits);
}

function nativeCrossEntropy(simd: NativeKernels, logits: Tensor, labels: Tensor, loss: Tensor): void {
  const places = labelPlaces(logits, labels);
  const sums = softmaxSums(simd, logits);
  let sum = 0;
  places.forEach((place, i) => {
    sum += sums[2 * i] + Math.log(sums[2 * i + 1]) - logits.data[place];
  });
  loss.data[loss.offset] = sum / places.length;
}

function nativeBackward(
  simd: NativeKernels,
  logits: Tensor,
  labels: Tensor,
  dloss: Tensor,
  dlogits: Tensor,
): void {
  const places = labelPlaces(dlogits, labels);
  const slope = dloss.data[dloss.offset] / places.length;
  softmax(simd, logits, slope, dlogits);
  for (const place of places) dlogits.data[place] -= slope;
}

/** Where each row's label lies in the storage of x (B, M, K). */
function labelPlaces(x: Tensor, labels: Tensor): number[] {
  const [, rows, classes] = x.shape;
  return Array.from(labels.toArray(), (label, i) => {
    requireClass(label, classes);
    const [b, m] = [Math.floor(i / rows), i % rows];
    return x.offset + b * x.strides[0] + m * x.strides[1] + label * x.strides[2];
  });
}

/** (..., K) as (B, M, K); undefined where there are more axes. */
function threeAxes(x: Tensor): Tensor | undefined {
  const missing = 3 - x.rank;
  if (missing < 0) return undefined;
  const lead = (value: number) => new Array<number>(missing).fill(value);
  return x.with({
    shape: [...lead(1), ...x.shape],
    strides: [...lead(0), ...x.strides],
    offset: x.offset,
  });
}

function requireClass(label: number, classes: number): void {
  if (!Number.isInteger(label) || label < 0 || label >= classes)
    throw new RangeError(`Label ${label} is not one of the ${classes} classes, 0 to ${classes - 1}.`);
}

/** `crossEntropy` in plain TypeScript. */
export function plainCrossEntropy(logits: Tensor, labels: Tensor, loss: Tensor): void {
  let sum = 0;
  forEachRow(logits, labels, (row, label) => {
    const [largest, total] = sumsOf(row);
    sum += largest + Math.log(total) - row[label];
  });
  loss.data[loss.offset] = sum / labels.numel;
}

/** `crossEntropyBackward` in plain TypeScript. */
export function plainCrossEntropyBackward(
  logits: Tensor,
  labels: Tensor,
  dloss: Tensor,
  dlogits: Tensor,
): void {
  const slope = dloss.data[dloss.offset] / labels.numel;
  const out = new Float64Array(logits.numel);
  let k = 0;
  forEachRow(logits, labels, (row, label) => {
    const [largest, total] = sumsOf(row);
    for (let i = 0; i < row.length; i++) {
      out[k++] = slope * (exp(row[i] - largest) / total - (i === label ? 1 : 0));
    }
  });
  write(out, dlogits);
}

function forEachRow(logits: Tensor, labels: Tensor, visit: (row: Float32Array, label: number) => void): void {
  const classes = logits.shape.at(-1)!;
  const values = logits.toArray();
  labels.toArray().forEach((label, i) => {
    requireClass(label, classes);
    visit(values.subarray(i * classes, (i + 1) * classes), label);
  });
}

/** The largest element m of a row, and the sum of e^(x - m), which cannot overflow. */
function sumsOf(row: Float32Array): [largest: number, total: number] {
  const largest = row.reduce((m, x) => Math.max(m, x), -Infinity);
  return [largest, row.reduce((sum, x) => sum + exp(x - largest), 0)];
}
