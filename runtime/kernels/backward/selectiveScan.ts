import type { Tensor } from '../../tensor/tensor';
import { exp } from '../exp';
import { native } from '../native';
import { selectiveScanBackward as nativeSelectiveScanBackward } from '../native/selectiveScanBackward';
import type { ScanTensors } from '../selectiveScan';
import { siluSlope } from './activation';
import { write } from './sum';

/** Gradients of the tensors of one scan, each shaped like its tensor; those that are not needed are absent. */
export interface ScanGradients {
  du?: Tensor;
  ddelta?: Tensor;
  dA?: Tensor;
  dB?: Tensor;
  dC?: Tensor;
  dD?: Tensor;
  dz?: Tensor;
}

/**
 * Gradients of the selective scan from dy (B, D, L); all may be any strided view. Done by the SIMD kernel where
 * there is one. Nothing of the forward pass is kept: each channel's states are recomputed and then gone through
 * from the last step to the first, with
 *
 *     ds[t] = dy[t] silu(z[t])        dz[t] = dy[t] silu'(z[t]) s[t]      s[t] = C[t] h[t] + D u[t]
 *     dh[t] = C[t] ds[t] + exp(delta[t+1] A) dh[t+1]                     dC[t] = sum_d h[t] ds[t]
 *     du[t] = D ds[t] + delta[t] B[t] dh[t]                              dD = sum_t u[t] ds[t]
 *     ddelta[t] = sum_n dh[t] (A exp(delta[t] A) h[t-1] + B[t] u[t])
 *     dA = sum_t dh[t] delta[t] exp(delta[t] A) h[t-1]                   dB[t] = sum_d dh[t] delta[t] u[t]
 */
export function selectiveScanBackward(s: ScanTensors, dy: Tensor, g: ScanGradients): void {
  const simd = native();
  if (simd) nativeSelectiveScanBackward(simd, s, dy, g);
  else plainSelectiveScanBackward(s, dy, g);
}

/** The same in plain TypeScript, in float64. */
export function plainSelectiveScanBackward(s: ScanTensors, dy: Tensor, g: ScanGradients): void {
  const [batch, channels, length] = s.u.shape;
  const states = s.A.shape[1];
  const channel = new Channel(length, states);
  const dA = new Float64Array(channels * states);
  const dD = new Float64Array(channels);
  for (let b = 0; b < batch; b++) {
    channel.enterBatch(s, b);
    for (let d = 0; d < channels; d++) {
      channel.load(s, dy, b, d);
      channel.recompute();
      dD[d] += channel.goBack(dA.subarray(d * states, (d + 1) * states));
      for (const [to, row] of [
        [g.du, channel.du],
        [g.ddelta, channel.ddelta],
        [g.dz, channel.dz],
      ] as const)
        if (to) writeRow(row, to, b, d);
    }
    if (g.dB) unpackTimeMajor(channel.dB, g.dB, b);
    if (g.dC) unpackTimeMajor(channel.dC, g.dC, b);
  }
  if (g.dA) write(dA, g.dA);
  if (g.dD) write(dD, g.dD);
}

/** Scratch for one channel (L, or L x N with the states of a step side by side), in float64. */
class Channel {
  readonly du: Float64Array;
  readonly ddelta: Float64Array;
  readonly dz: Float64Array;
  /** Summed over the channels of a batch element. */
  readonly dB: Float64Array;
  readonly dC: Float64Array;
  private readonly u: Float64Array;
  private readonly delta: Float64Array;
  private readonly z: Float64Array;
  private readonly dy: Float64Array;
  /** s[t], before the gate. */
  private readonly ungated: Float64Array;
  private readonly A: Float64Array;
  private readonly B: Float64Array;
  private readonly C: Float64Array;
  private readonly decay: Float64Array;
  /** h[t-1] at t, so that h[-1] = 0 comes first. */
  private readonly h: Float64Array;
  private readonly dh: Float64Array;
  private skip: number | undefined;
  private gated = false;

  constructor(
    private readonly length: number,
    private readonly states: number,
  ) {
    const steps = () => new Float64Array(length);
    const grid = () => new Float64Array(length * states);
    [this.u, this.delta, this.z, this.dy, this.ungated] = [steps(), steps(), steps(), steps(), steps()];
    [this.du, this.ddelta, this.dz] = [steps(), steps(), steps()];
    [this.B, this.C, this.dB, this.dC, this.decay] = [grid(), grid(), grid(), grid(), grid()];
    this.h = new Float64Array((length + 1) * states);
    this.A = new Float64Array(states);
    this.dh = new Float64Array(states);
  }

  enterBatch(s: ScanTensors, b: number): void {
    packTimeMajor(s.B, b, this.B);
    packTimeMajor(s.C, b, this.C);
    this.dB.fill(0);
    this.dC.fill(0);
  }

  load(s: ScanTensors, dy: Tensor, b: number, d: number): void {
    readRow(s.u, b, d, this.u);
    readRow(s.delta, b, d, this.delta);
    readRow(dy, b, d, this.dy);
    if (s.z) readRow(s.z, b, d, this.z);
    this.gated = s.z !== undefined;
    this.skip = s.D?.at(d);
    for (let n = 0; n < this.states; n++) this.A[n] = s.A.at(d, n);
  }

  /** The forward recurrence, with every state and decay kept. */
  recompute(): void {
    const { length, states, u, delta, A, B, C, decay, h, ungated, skip } = this;
    for (let t = 0, k = 0; t < length; t++) {
      const written = delta[t] * u[t];
      let sum = skip === undefined ? 0 : skip * u[t];
      for (let n = 0; n < states; n++, k++) {
        const a = exp(delta[t] * A[n]);
        const hn = a * h[k] + written * B[k];
        decay[k] = a;
        h[k + states] = hn;
        sum += hn * C[k];
      }
      ungated[t] = sum;
    }
  }

  /** From the last step to the first; adds to dA (N) of this channel and gives its dD. */
  goBack(dA: Float64Array): number {
    const { u, dy, z, ungated, dz } = this;
    let dD = 0;
    this.dh.fill(0);
    for (let t = this.length - 1; t >= 0; t--) {
      let ds = dy[t];
      if (this.gated) {
        dz[t] = ds * siluSlope(z[t]) * ungated[t];
        ds *= z[t] / (1 + exp(-z[t]));
      }
      this.stepBack(t, ds, dA);
      dD += ds * u[t];
    }
    return dD;
  }

  private stepBack(t: number, ds: number, dA: Float64Array): void {
    const { states, A, B, C, dB, dC, decay, h, dh } = this;
    const [ut, dt] = [this.u[t], this.delta[t]];
    const written = dt * ut;
    let [dwritten, ddecay] = [0, 0];
    for (let n = 0, k = t * states; n < states; n++, k++) {
      const dhn = dh[n] + ds * C[k];
      const kept = dhn * decay[k] * h[k];
      dC[k] += ds * h[k + states];
      dB[k] += dhn * written;
      dwritten += dhn * B[k];
      ddecay += kept * A[n];
      dA[n] += kept * dt;
      dh[n] = dhn * decay[k];
    }
    this.du[t] = dwritten * dt + (this.skip === undefined ? 0 : ds * this.skip);
    this.ddelta[t] = dwritten * ut + ddecay;
  }
}

const rowOf = (x: Tensor, b: number, d: number) => x.offset + b * x.strides[0] + d * x.strides[1];

function readRow(x: Tensor, b: number, d: number, to: Float64Array): void {
  for (let t = 0, at = rowOf(x, b, d); t < to.length; t++, at += x.strides[2]) to[t] = x.data[at];
}

function writeRow(from: Float64Array, x: Tensor, b: number, d: number): void {
  for (let t = 0, at = rowOf(x, b, d); t < from.length; t++, at += x.strides[2]) x.data[at] = from[t];
}

/** x (B, N, L) of one batch element as (L, N). */
function packTimeMajor(x: Tensor, b: number, to: Float64Array): void {
  const [, states, length] = x.shape;
  for (let n = 0; n < states; n++) {
    let at = rowOf(x, b, n);
    for (let t = 0; t < length; t++, at += x.strides[2]) to[t * states + n] = x.data[at];
  }
}

function unpackTimeMajor(from: Float64Array, x: Tensor, b: number): void {
  const [, states, length] = x.shape;
  for (let n = 0; n < states; n++) {
    let at = rowOf(x, b, n);
    for (let t = 0; t < length; t++, at += x.strides[2]) x.data[at] = from[t * states + n];
  }
}
