/**
 * WebAssembly SIMD kernels, written in AssemblyScript. Each has a plain TypeScript twin that the tests compare it
 * with. Tensors are float32 in linear memory, given by their byte offsets.
 */

/** Rows of x and columns of w that are multiplied at once: eight sums of four lanes. */
const ROWS: i32 = 4;
const COLUMNS: i32 = 8;

/**
 * y (M, N) = x (M, K) w (N, K)^T, all row-major. `panel` is scratch for K x 8 floats. M is a multiple of 4 and N of
 * 8: the caller pads.
 */
export function multiply(x: usize, w: usize, y: usize, panel: usize, M: i32, N: i32, K: i32): void {
  for (let n = 0; n < N; n += COLUMNS) {
    packPanel(w + ((<usize>n * K) << 2), panel, K);
    for (let m = 0; m < M; m += ROWS) {
      multiplyBlock(x + ((<usize>m * K) << 2), panel, y + ((<usize>m * N + n) << 2), <usize>N << 2, K);
    }
  }
}

/** Eight rows of w as K groups of eight neighbours, so that the inner loop loads whole vectors. */
function packPanel(w: usize, panel: usize, K: i32): void {
  const row = <usize>K << 2;
  for (let k = 0; k < K; k++) {
    for (let j = 0; j < COLUMNS; j++) {
      store<f32>(panel + ((<usize>k * COLUMNS + j) << 2), load<f32>(w + row * j + (<usize>k << 2)));
    }
  }
}

function multiplyBlock(x: usize, panel: usize, y: usize, stride: usize, K: i32): void {
  const row = <usize>K << 2;
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let b0 = f32x4.splat(0);
  let b1 = f32x4.splat(0);
  let c0 = f32x4.splat(0);
  let c1 = f32x4.splat(0);
  let d0 = f32x4.splat(0);
  let d1 = f32x4.splat(0);
  const end = x + row;
  while (x < end) {
    const w0 = v128.load(panel);
    const w1 = v128.load(panel, 16);
    const xa = v128.load_splat<f32>(x);
    a0 = f32x4.add(a0, f32x4.mul(xa, w0));
    a1 = f32x4.add(a1, f32x4.mul(xa, w1));
    const xb = v128.load_splat<f32>(x + row);
    b0 = f32x4.add(b0, f32x4.mul(xb, w0));
    b1 = f32x4.add(b1, f32x4.mul(xb, w1));
    const xc = v128.load_splat<f32>(x + 2 * row);
    c0 = f32x4.add(c0, f32x4.mul(xc, w0));
    c1 = f32x4.add(c1, f32x4.mul(xc, w1));
    const xd = v128.load_splat<f32>(x + 3 * row);
    d0 = f32x4.add(d0, f32x4.mul(xd, w0));
    d1 = f32x4.add(d1, f32x4.mul(xd, w1));
    x += 4;
    panel += 32;
  }
  v128.store(y, a0);
  v128.store(y, a1, 16);
  v128.store(y + stride, b0);
  v128.store(y + stride, b1, 16);
  v128.store(y + 2 * stride, c0);
  v128.store(y + 2 * stride, c1, 16);
  v128.store(y + 3 * stride, d0);
  v128.store(y + 3 * stride, d1, 16);
}
