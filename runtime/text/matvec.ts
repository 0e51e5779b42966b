/**
 * y (M) = w (M, K) x (K) + bias (M). Eight rows at a time, so that x is read once for all of them and eight sums
 * are under way: a product with a vector is bound by reading the weights.
 */
export function matvec(w: Float32Array, x: Float32Array, bias: Float32Array | undefined, y: Float32Array) {
  const inner = x.length;
  const whole = y.length - (y.length % 8);
  for (let i = 0; i < whole; i += 8) eightRows(w, i, x, inner, y);
  for (let i = whole; i < y.length; i++) y[i] = oneRow(w, i * inner, x, inner);
  if (bias) for (let i = 0; i < y.length; i++) y[i] += bias[i];
}

/** Rows `i` to `i + 8` of the product. */
function eightRows(w: Float32Array, i: number, x: Float32Array, inner: number, y: Float32Array): void {
  const a0 = i * inner;
  const a1 = a0 + inner;
  const a2 = a1 + inner;
  const a3 = a2 + inner;
  const a4 = a3 + inner;
  const a5 = a4 + inner;
  const a6 = a5 + inner;
  const a7 = a6 + inner;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let s4 = 0;
  let s5 = 0;
  let s6 = 0;
  let s7 = 0;
  for (let k = 0; k < inner; k++) {
    const x_k = x[k];
    s0 += w[a0 + k] * x_k;
    s1 += w[a1 + k] * x_k;
    s2 += w[a2 + k] * x_k;
    s3 += w[a3 + k] * x_k;
    s4 += w[a4 + k] * x_k;
    s5 += w[a5 + k] * x_k;
    s6 += w[a6 + k] * x_k;
    s7 += w[a7 + k] * x_k;
  }
  y[i] = s0;
  y[i + 1] = s1;
  y[i + 2] = s2;
  y[i + 3] = s3;
  y[i + 4] = s4;
  y[i + 5] = s5;
  y[i + 6] = s6;
  y[i + 7] = s7;
}

function oneRow(w: Float32Array, at: number, x: Float32Array, inner: number): number {
  let sum = 0;
  for (let k = 0; k < inner; k++) sum += w[at + k] * x[k];
  return sum;
}
