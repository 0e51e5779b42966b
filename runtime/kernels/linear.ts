import type { Tensor } from '../tensor/tensor';

/**
 * y (B, M, N) = x (B, M, K) w (N, K)^T + bias (N). `x` and `y` may be any strided view; `w` is row-major.
 * Four rows by four columns at a time, so that each loaded value is used four times.
 */
export function linear(x: Tensor, w: Float32Array, bias: Float32Array | undefined, y: Tensor): void {
  const [batch, rows, inner] = x.shape;
  const columns = y.shape[2];
  const packed = new Float32Array(rows * inner);
  for (let b = 0; b < batch; b++) {
    packRows(x, b, packed);
    multiply(
      packed,
      w,
      bias,
      rows,
      columns,
      inner,
      y.data,
      y.offset + b * y.strides[0],
      y.strides[1],
      y.strides[2],
    );
  }
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

function multiply(
  x: Float32Array,
  w: Float32Array,
  bias: Float32Array | undefined,
  rows: number,
  columns: number,
  inner: number,
  y: Float32Array,
  start: number,
  stepRow: number,
  stepColumn: number,
): void {
  for (let n = 0; n < columns; n += 4) {
    const width = Math.min(4, columns - n);
    // Past the edge the last row of w is used again and its result dropped: one loop shape for all blocks.
    const w0 = n * inner;
    const w1 = (n + Math.min(1, width - 1)) * inner;
    const w2 = (n + Math.min(2, width - 1)) * inner;
    const w3 = (n + Math.min(3, width - 1)) * inner;
    for (let m = 0; m < rows; m += 4) {
      const height = Math.min(4, rows - m);
      const x0 = m * inner;
      const x1 = (m + Math.min(1, height - 1)) * inner;
      const x2 = (m + Math.min(2, height - 1)) * inner;
      const x3 = (m + Math.min(3, height - 1)) * inner;
      // biome-ignore-start format: sixteen sums read as a block
      let s00 = 0,
        s01 = 0,
        s02 = 0,
        s03 = 0;
      let s10 = 0,
        s11 = 0,
        s12 = 0,
        s13 = 0;
      let s20 = 0,
        s21 = 0,
        s22 = 0,
        s23 = 0;
      let s30 = 0,
        s31 = 0,
        s32 = 0,
        s33 = 0;
      for (let k = 0; k < inner; k++) {
        const a0 = x[x0 + k],
          a1 = x[x1 + k],
          a2 = x[x2 + k],
          a3 = x[x3 + k];
        const b0 = w[w0 + k],
          b1 = w[w1 + k],
          b2 = w[w2 + k],
          b3 = w[w3 + k];
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
        s30 += a3 * b0;
        s31 += a3 * b1;
        s32 += a3 * b2;
        s33 += a3 * b3;
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
      block[12] = s30;
      block[13] = s31;
      block[14] = s32;
      block[15] = s33;
      // biome-ignore-end format: sixteen sums read as a block
      for (let i = 0; i < height; i++) {
        for (let j = 0; j < width; j++) {
          y[start + (m + i) * stepRow + (n + j) * stepColumn] = block[4 * i + j] + (bias ? bias[n + j] : 0);
        }
      }
    }
  }
}

const block = new Float64Array(16);
