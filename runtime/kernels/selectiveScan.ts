import type { Tensor } from '../tensor/tensor';
import { exp } from './exp';
import { native } from './native';
import { selectiveScan as nativeSelectiveScan } from './native/selectiveScan';

/** The tensors of one selective scan, by the paper's names (Gu & Dao 2023, Algorithm 2). */
export interface ScanTensors {
  /** Input, (B, D, L). */
  u: Tensor;
  /** Step size after softplus, (B, D, L). */
  delta: Tensor;
  /** (D, N). */
  A: Tensor;
  /** (B, N, L). */
  B: Tensor;
  /** (B, N, L). */
  C: Tensor;
  /** Skip weights, (D). */
  D?: Tensor;
  /** Gate, (B, D, L): the output is multiplied by silu(z). */
  z?: Tensor;
}

/**
 * Selective scan: h[t] = exp(delta[t] A) h[t-1] + delta[t] B[t] u[t]; y[t] = (C[t] h[t] + D u[t]) silu(z[t]).
 * Writes y (B, D, L); all may be any strided view. Done by the SIMD kernel where there is one. The plain
 * recurrence that a person steps through lives in models/recurrence.ts.
 */
export function selectiveScan(s: ScanTensors, y: Tensor): void {
  const simd = native();
  if (simd) nativeSelectiveScan(simd, s, y);
  else plainSelectiveScan(s, y);
}

/** The same in plain TypeScript. The state is held in float64, so this is also the accurate one of the forms. */
export function plainSelectiveScan(s: ScanTensors, y: Tensor): void {
  const [batch, channels, length] = s.u.shape;
  const states = s.A.shape[1];
  const Bt = new Float32Array(length * states);
  const Ct = new Float32Array(length * states);
  const A = new Float64Array(states);
  const h = new Float64Array(states);
  for (let b = 0; b < batch; b++) {
    packTimeMajor(s.B, b, Bt);
    packTimeMajor(s.C, b, Ct);
    for (let d = 0; d < channels; d++) {
      for (let n = 0; n < states; n++) A[n] = s.A.at(d, n);
      h.fill(0);
      scanChannel(s, b, d, A, Bt, Ct, h, y, length);
    }
  }
}

/** x (B, N, L) of one batch element as (L, N), so that the states of a step lie side by side. */
function packTimeMajor(x: Tensor, b: number, to: Float32Array): void {
  const [, states, length] = x.shape;
  for (let n = 0; n < states; n++) {
    let at = x.offset + b * x.strides[0] + n * x.strides[1];
    for (let t = 0; t < length; t++, at += x.strides[2]) to[t * states + n] = x.data[at];
  }
}

function scanChannel(
  s: ScanTensors,
  b: number,
  d: number,
  A: Float64Array,
  Bt: Float32Array,
  Ct: Float32Array,
  h: Float64Array,
  y: Tensor,
  length: number,
): void {
  const states = A.length;
  const skip = s.D ? s.D.at(d) : 0;
  const row = (x: Tensor) => x.offset + b * x.strides[0] + d * x.strides[1];
  const [uRow, deltaRow, yRow] = [row(s.u), row(s.delta), row(y)];
  const zRow = s.z ? row(s.z) : 0;
  const [u, delta, out] = [s.u.data, s.delta.data, y.data];
  const [uStep, deltaStep, yStep] = [s.u.strides[2], s.delta.strides[2], y.strides[2]];
  for (let t = 0; t < length; t++) {
    const ut = u[uRow + t * uStep];
    const dt = delta[deltaRow + t * deltaStep];
    let sum = stepStates(h, A, Bt, Ct, t * states, dt, dt * ut);
    if (s.D) sum += skip * ut;
    if (s.z) {
      const zt = s.z.data[zRow + t * s.z.strides[2]];
      sum *= zt / (1 + exp(-zt));
    }
    out[yRow + t * yStep] = sum;
  }
}

/**
 * One time step of one channel: moves the states h (N) on and gives C_t h. A function of its own, small enough
 * for the compiler to take exp into its loop.
 */
function stepStates(
  h: Float64Array,
  A: Float64Array,
  Bt: Float32Array,
  Ct: Float32Array,
  at: number,
  delta: number,
  deltaU: number,
): number {
  let sum = 0;
  for (let n = 0, k = at; n < h.length; n++, k++) {
    const hn = exp(delta * A[n]) * h[n] + deltaU * Bt[k];
    h[n] = hn;
    sum += hn * Ct[k];
  }
  return sum;
}
