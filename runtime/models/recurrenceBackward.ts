/**
 * The gradient of the selective scan (Gu & Dao 2023, Algorithm 2), one time step at a time and against time: this
 * is what a person steps through in the backward pass. It is recomputed from the scan's kept inputs and dy, in
 * float32; the states h come from the recurrence itself.
 */
import { silu } from '../kernels/activation';
import { siluSlope } from '../kernels/backward/activation';
import type { ScanTensors } from '../kernels/selectiveScan';
import { numel, Tensor } from '../tensor/tensor';
import { KeptStates } from './keptStates';
import { atTime, Recurrence, zeros } from './recurrence';

/** Where the recurrence stands in this file: the line that holds this text. */
export const RECURRENCE_BACKWARD = {
  source: 'runtime/models/recurrenceBackward.ts',
  text: '// dh_t = C_t ds_t + exp(delta_(t+1) A) dh_(t+1)',
};

export class RecurrenceBackward {
  /** The step that the tensors below belong to; the length before the first. */
  t: number;
  readonly length: number;
  /** The state before this step, (B, D, N). */
  readonly h_prev: Tensor;
  /** Gradient of the output before the gate, (B, D). */
  readonly ds: Tensor;
  /** What step t + 1 passed on, (B, D, N). */
  readonly dh_next: Tensor;
  /** Gradient of the state after this step, (B, D, N); that of `kept` and of `written` is the same. */
  readonly dh: Tensor;
  /** Gradient of the decay, (B, D, N). */
  readonly ddecay: Tensor;
  /** decay dh, (B, D, N): what this step passes on to step t - 1. */
  readonly dh_prev: Tensor;
  /** Gradients of this step's inputs: (B, D), and (B, N) summed over the channels. */
  readonly du: Tensor;
  readonly ddelta: Tensor;
  readonly dz: Tensor;
  readonly dB: Tensor;
  readonly dC: Tensor;
  /** Sums over the steps from the last to this one: (D, N) and (D). */
  readonly dA: Tensor;
  readonly dD: Tensor;
  private readonly forward: Recurrence;
  /** dh_prev, dA and dD: what goes from step to step. */
  private readonly state: Float32Array;
  private readonly keptStates = new KeptStates();

  constructor(
    readonly inputs: ScanTensors,
    readonly dy: Tensor,
  ) {
    const [batch, channels, length] = inputs.u.shape;
    const states = inputs.A.shape[1];
    const perState = () => zeros([batch, channels, states], ['B', 'D', 'N']);
    const perChannel = () => zeros([batch, channels], ['B', 'D']);
    [this.h_prev, this.dh_next, this.dh, this.ddecay] = [perState(), perState(), perState(), perState()];
    [this.ds, this.du, this.ddelta, this.dz] = [perChannel(), perChannel(), perChannel(), perChannel()];
    this.dB = zeros([batch, states], ['B', 'N']);
    this.dC = zeros([batch, states], ['B', 'N']);
    this.state = new Float32Array((batch + 1) * channels * states + channels);
    this.dh_prev = part(this.state, 0, [batch, channels, states], ['B', 'D', 'N']);
    this.dA = part(this.state, batch * channels * states, [channels, states], ['D', 'N']);
    this.dD = part(this.state, (batch + 1) * channels * states, [channels], ['D']);
    this.forward = new Recurrence(inputs);
    this.length = length;
    this.t = length;
  }

  /** Goes one step backward in time. */
  step(): void {
    const t = --this.t;
    this.recompute(t);
    const { u, delta, A, B, C, D, z } = this.inputs;
    const [decay, h, h_prev] = [this.forward.decay.data, this.forward.h.data, this.h_prev.data];
    const [dh, ddecay, dh_next, dh_prev] = [
      this.dh.data,
      this.ddecay.data,
      this.dh_next.data,
      this.dh_prev.data,
    ];
    const [dA, dB, dC, dD] = [this.dA.data, this.dB.data, this.dC.data, this.dD.data];
    dh_next.set(dh_prev);
    dB.fill(0);
    dC.fill(0);
    const [batch, channels, states] = this.dh.shape;
    for (let b = 0, i = 0; b < batch; b++) {
      for (let d = 0; d < channels; d++) {
        const at = b * channels + d;
        const [u_t, delta_t, dy_t] = [u.at(b, d, t), delta.at(b, d, t), this.dy.at(b, d, t)];
        const ds_t = z ? dy_t * silu(z.at(b, d, t)) : dy_t;
        let s_t = D ? D.at(d) * u_t : 0;
        let du_t = D ? D.at(d) * ds_t : 0;
        let ddelta_t = 0;
        for (let n = 0; n < states; n++, i++) {
          const [A_n, B_t, C_t] = [A.at(d, n), B.at(b, n, t), C.at(b, n, t)];
          dh[i] = C_t * ds_t + dh_next[i]; // dh_t = C_t ds_t + exp(delta_(t+1) A) dh_(t+1)
          ddecay[i] = dh[i] * h_prev[i];
          dh_prev[i] = decay[i] * dh[i];
          s_t += C_t * h[i];
          du_t += dh[i] * delta_t * B_t;
          ddelta_t += ddecay[i] * decay[i] * A_n + dh[i] * B_t * u_t;
          dA[d * states + n] += ddecay[i] * decay[i] * delta_t;
          dB[b * states + n] += dh[i] * delta_t * u_t;
          dC[b * states + n] += ds_t * h[i];
        }
        dD[d] += ds_t * u_t;
        this.ds.data[at] = ds_t;
        this.du.data[at] = du_t;
        this.ddelta.data[at] = ddelta_t;
        this.dz.data[at] = z ? dy_t * siluSlope(z.at(b, d, t)) * s_t : 0;
      }
    }
    this.keptStates.keep(this.length - 1 - t, this.state);
  }

  /** The states before and after step t, and its decay. */
  private recompute(t: number): void {
    this.forward.seek(t - 1);
    this.h_prev.data.set(this.forward.h.data);
    this.forward.step();
  }

  /** Goes to step t, forward in time too; bit-equal to the first time. */
  seek(t: number): void {
    const last = this.length - 1;
    if (t > this.t) this.t = last - this.keptStates.restore(last - t, this.state);
    while (this.t > t) this.step();
  }

  /** What there is to see at this step, by the names of the code above. */
  tensors(): Record<string, Tensor | undefined> {
    const { h, decay, written } = this.forward;
    const { u_t, delta_t, B_t, C_t, z_t } = this.forward.slices();
    const { ds, dh_next, dh, dh_prev, ddecay, h_prev, du, ddelta, dB, dC, dz, dA, dD } = this;
    return {
      dh,
      dh_next,
      dh_prev,
      ddecay,
      dy_t: atTime(this.dy, this.t),
      ds_t: ds,
      du_t: du,
      ddelta_t: ddelta,
      dB_t: dB,
      dC_t: dC,
      dz_t: z_t && dz,
      dA,
      dD: this.inputs.D && dD,
      h,
      h_prev,
      decay,
      written,
      u_t,
      delta_t,
      B_t,
      C_t,
      z_t,
    };
  }
}

/** A tensor that lies in `data` from `start` on. */
function part(data: Float32Array, start: number, shape: number[], axes: string[]): Tensor {
  return new Tensor(data.subarray(start, start + numel(shape)), shape, undefined, 0, 'float32', axes);
}
