import { type Tensor, view } from '../tensor/tensor';
import { native } from './native';
import { matmul } from './native/matmul';

/**
 * y (B, M, N) = x (B, M, K) w (N, K)^T + bias (N). All may be any strided view. Done by the SIMD kernel where
 * there is one, else three rows by four columns at a time.
 */
export function linear(x: Tensor, w: Tensor, bias: Tensor | undefined, y: Tensor): void {
  const simd = native();
  if (!simd) {
    plainLinear(x, w, bias, y);
    return;
  }
  const b = w.with(view.transpose(w, 0, 1));
  for (let i = 0; i < x.shape[0]; i++) {
    const a = x.with(view.select(x, 0, i));
    matmul(simd, { a, b, c: y.with(view.select(y, 0, i)), bias, biasOf: 'columns' });
  }
}

/** The same in plain TypeScript. */
export function plainLinear(x: Tensor, weight: Tensor, biases: Tensor | undefined, y: Tensor): void {
  const [batch, rows, inner] = x.shape;
  const columns = y.shape[2];
  const packed = new Float32Array(rows * inner);
  const [w, bias] = [weight.toArray(), biases?.toArray()];
  for (let b = 0; b < batch; b++) {
    packRows(x, b, packed);
    const start = y.offset + b * y.strides[0];
    const out: Target = { y: y.data, start, stepRow: y.strides[1], stepColumn: y.strides[2] };
    multiply(packed, w, bias, rows, columns, inner, out);
  }
}

/** Where a product goes. */
interface Target {
  y: Float32Array;
  start: number;
  stepRow: number;
  stepColumn: number;
}

function packRows(x: Tensor, b: number, packed: Float32Array): void {
  const [, rows, inner] = x.shape;
  const [stepBatch, stepRow, stepInner] = x.strides;
  const start = x.offset + b * stepBatch;
  if (stepInner === 1) {
    for (let m = 0; m < rows; m++) {
      const at = start + m * stepRow;
      packed.set(x.data.subarray(at, at + inner), m * inner);
    }
    return;
  }
  for (let k = 0; k < inner; k++) {
    let at = start + k * stepInner;
    for (let m = 0; m < rows; m++, at += stepRow) packed[m * inner + k] = x.data[at];
  }
}

/** Rows and columns of a block: as many sums as fit into registers. */
const ROWS = 3;
const COLUMNS = 4;
/** The sums of one block, row by row. */
const block = new Float64Array(ROWS * COLUMNS);

function multiply(
  x: Float32Array,
  w: Float32Array,
  bias: Float32Array | undefined,
  rows: number,
  columns: number,
  inner: number,
  { y, start, stepRow, stepColumn }: Target,
): void {
  for (let n = 0; n < columns; n += COLUMNS) {
    const width = Math.min(COLUMNS, columns - n);
    for (let m = 0; m < rows; m += ROWS) {
      const height = Math.min(ROWS, rows - m);
      sumBlock(x, m, height, w, n, width, inner);
      for (let i = 0; i < height; i++) {
        for (let j = 0; j < width; j++) {
          const at = start + (m + i) * stepRow + (n + j) * stepColumn;
          y[at] = block[COLUMNS * i + j] + (bias ? bias[n + j] : 0);
        }
      }
    }
  }
}

/**
 * Sums rows m .. of x times rows n .. of w into `block`. Past the edge the last row is used again and its result
 * not read: one loop shape for all blocks.
 */
function sumBlock(
  x: Float32Array,
  m: number,
  height: number,
  w: Float32Array,
  n: number,
  width: number,
  inner: number,
): void {
  const x0 = m * inner;
  const x1 = (m + Math.min(1, height - 1)) * inner;
  const x2 = (m + height - 1) * inner;
  const w0 = n * inner;
  const w1 = (n + Math.min(1, width - 1)) * inner;
  const w2 = (n + Math.min(2, width - 1)) * inner;
  const w3 = (n + width - 1) * inner;
  let s00 = 0;
  let s01 = 0;
  let s02 = 0;
  let s03 = 0;
  let s10 = 0;
  let s11 = 0;
  let s12 = 0;
  let s13 = 0;
  let s20 = 0;
  let s21 = 0;
  let s22 = 0;
  let s23 = 0;
  for (let k = 0; k < inner; k++) {
    const a0 = x[x0 + k];
    const a1 = x[x1 + k];
    const a2 = x[x2 + k];
    const b0 = w[w0 + k];
    const b1 = w[w1 + k];
    const b2 = w[w2 + k];
    const b3 = w[w3 + k];
    s00 += a0 * b0;
    s01 += a0 * b1;
    s02 += a0 * b2;
    s03 += a0 * b3;
    s10 += a1 * b0;
    s11 += a1 * b1;
    s12 += a1 * b2;
    s13 += a1 * b3;
    s20 += a2 * b0;
    s21 += a2 * b1;
    s22 += a2 * b2;
    s23 += a2 * b3;
  }
  block[0] = s00;
  block[1] = s01;
  block[2] = s02;
  block[3] = s03;
  block[4] = s10;
  block[5] = s11;
  block[6] = s12;
  block[7] = s13;
  block[8] = s20;
  block[9] = s21;
  block[10] = s22;
  block[11] = s23;
}
