/**
 * The selective scan as the paper writes it (Gu & Dao 2023, Algorithm 2), one time step at a time: this is
 * what a person steps through. It is recomputed from the scan's kept inputs, in float32.
 */
import { silu } from '../kernels/activation';
import type { ScanTensors } from '../kernels/selectiveScan';
import { numel, Tensor, view } from '../tensor/tensor';
import { KeptStates } from './keptStates';

/** Where the recurrence stands in this file: the line that holds this text. */
export const RECURRENCE = { source: 'runtime/models/recurrence.ts', text: '// h_t = exp(delta_t A)' };

/** One scan, gone through forward in time; going back recomputes from the last state that was kept. */
export class Recurrence {
  /** The step that the tensors below belong to; -1 before the first. */
  t = -1;
  /** How many steps there are. */
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
  private readonly keptStates = new KeptStates();

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
    this.keptStates.keep(t, h);
  }

  /** Goes to step t, backwards too; bit-equal to the first time. */
  seek(t: number): void {
    if (t < this.t) this.t = this.keptStates.restore(t, this.h.data);
    while (this.t < t) this.step();
  }

  /** What there is to see at this step, by the names of the code above. */
  tensors(): Record<string, Tensor | undefined> {
    const { h, decay, kept, written, y } = this;
    const { u_t, delta_t, B_t, C_t, z_t } = this.slices();
    return { h, u_t, delta_t, decay, kept, written, B_t, C_t, z_t, y_t: y };
  }

  /** The inputs of this step: views of u, delta, z (B, D) and B, C (B, N). */
  slices(): { u_t: Tensor; delta_t: Tensor; B_t: Tensor; C_t: Tensor; z_t?: Tensor } {
    const { u, delta, B, C, z } = this.inputs;
    const at = (x: Tensor) => atTime(x, this.t);
    return { u_t: at(u), delta_t: at(delta), B_t: at(B), C_t: at(C), ...(z ? { z_t: at(z) } : {}) };
  }
}

/** x (B, D, L) or (B, N, L) at one time step. */
export function atTime(x: Tensor, t: number): Tensor {
  return x.with(view.select(x, 2, t), x.axes.slice(0, 2));
}

/** A float32 tensor of zeros with named axes. */
export function zeros(shape: readonly number[], axes: readonly string[]): Tensor {
  return new Tensor(new Float32Array(numel(shape)), shape, undefined, 0, 'float32', axes);
}
