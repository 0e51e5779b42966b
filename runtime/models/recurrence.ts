/**
 * The selective scan as the paper writes it (Gu & Dao 2023, Algorithm 2), one time step at a time: this is
 * what a person steps through. It is recomputed from the scan's kept inputs, in float32.
 */
import { silu } from '../kernels/activation';
import type { ScanTensors } from '../kernels/selectiveScan';
import { numel, Tensor, view } from '../tensor/tensor';

/** States kept on the way forward, so that going back recomputes at most this many steps. */
const KEEP_EVERY = 16;

/** Where the recurrence stands in this file: the line that holds this text. */
export const RECURRENCE = { source: 'runtime/models/recurrence.ts', text: '// h_t = exp(delta_t A)' };

export class Recurrence {
  /** The step that the tensors below belong to; -1 before the first. */
  t = -1;
  readonly length: number;
  /** exp(delta_t A), (B, D, N): how much of the state survives this step. */
  readonly decay: Tensor;
  /** decay h_prev, (B, D, N): what the state kept. */
  readonly kept: Tensor;
  /** delta_t B_t u_t, (B, D, N): what this step wrote. */
  readonly written: Tensor;
  /** The state after this step, (B, D, N). */
  readonly h: Tensor;
  /** This step's output after skip and gate, (B, D). */
  readonly y: Tensor;
  private readonly keptStates = new Map<number, Float32Array>();

  constructor(readonly inputs: ScanTensors) {
    const [batch, channels, length] = inputs.u.shape;
    const states = inputs.A.shape[1];
    this.length = length;
    this.decay = zeros([batch, channels, states], ['B', 'D', 'N']);
    this.kept = zeros([batch, channels, states], ['B', 'D', 'N']);
    this.written = zeros([batch, channels, states], ['B', 'D', 'N']);
    this.h = zeros([batch, channels, states], ['B', 'D', 'N']);
    this.y = zeros([batch, channels], ['B', 'D']);
  }

  /** Goes one step forward in time. */
  step(): void {
    const t = ++this.t;
    const { u, delta, A, B, C, D, z } = this.inputs;
    const [h, decay, kept, written] = [this.h.data, this.decay.data, this.kept.data, this.written.data];
    const [batch, channels, states] = this.h.shape;
    for (let b = 0, i = 0; b < batch; b++) {
      for (let d = 0; d < channels; d++) {
        const u_t = u.at(b, d, t);
        const delta_t = delta.at(b, d, t);
        let y_t = D ? D.at(d) * u_t : 0;
        for (let n = 0; n < states; n++, i++) {
          decay[i] = Math.exp(delta_t * A.at(d, n));
          kept[i] = decay[i] * h[i];
          written[i] = delta_t * B.at(b, n, t) * u_t;
          h[i] = kept[i] + written[i]; // h_t = exp(delta_t A) h_(t-1) + delta_t B_t u_t
          y_t += C.at(b, n, t) * h[i];
        }
        this.y.data[b * channels + d] = z ? y_t * silu(z.at(b, d, t)) : y_t;
      }
    }
    if (t % KEEP_EVERY === 0) this.keptStates.set(t, h.slice());
  }

  /** Goes to step t, backwards too; bit-equal to the first time. */
  seek(t: number): void {
    if (t < this.t) this.rewind(t);
    while (this.t < t) this.step();
  }

  private rewind(t: number): void {
    // The kept state is the one after its step, so the step itself must still be recomputed.
    const from = Math.floor((t - 1) / KEEP_EVERY) * KEEP_EVERY;
    const state = this.keptStates.get(from);
    if (t > 0 && state) this.h.data.set(state);
    else this.h.data.fill(0);
    this.t = t > 0 && state ? from : -1;
  }

  /** The inputs of this step: views of u, delta, z (B, D) and B, C (B, N). */
  slices(): Record<string, Tensor> {
    const at = (x: Tensor) => x.with(view.select(x, 2, this.t), x.axes.slice(0, 2));
    const { u, delta, B, C, z } = this.inputs;
    return { u_t: at(u), delta_t: at(delta), B_t: at(B), C_t: at(C), ...(z ? { z_t: at(z) } : {}) };
  }
}

function zeros(shape: readonly number[], axes: readonly string[]): Tensor {
  return new Tensor(new Float32Array(numel(shape)), shape, undefined, 0, 'float32', axes);
}
