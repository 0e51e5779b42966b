/**
 * The selective scan as the paper writes it (Gu & Dao 2023, Algorithm 2), one time step at a time: this is
 * what a person steps through. It is recomputed from the scan's kept inputs, in float32.
 */
import { silu } from '../kernels/elementwise';
import type { ScanTensors } from '../kernels/selectiveScan';
import { here, type SourcePlace } from '../program/source';
import { Tensor, view } from '../tensor/tensor';

/** States kept on the way forward, so that going back recomputes at most this many steps. */
const KEEP_EVERY = 16;

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
  /** The line of the recurrence, for the editor. */
  place: SourcePlace | undefined;
  private readonly keptStates = new Map<number, Float32Array>();

  constructor(readonly inputs: ScanTensors) {
    const [batch, channels, length] = inputs.u.shape;
    const states = inputs.A.shape[1];
    const state = () =>
      new Tensor(
        new Float32Array(batch * channels * states),
        [batch, channels, states],
        undefined,
        0,
        'float32',
        ['B', 'D', 'N'],
      );
    this.length = length;
    this.decay = state();
    this.kept = state();
    this.written = state();
    this.h = state();
    this.y = new Tensor(new Float32Array(batch * channels), [batch, channels], undefined, 0, 'float32', [
      'B',
      'D',
    ]);
  }

  /** Goes one step forward in time. */
  step(): void {
    const t = ++this.t;
    this.place ??= here();
    const { u, delta, A, B, C, D, z } = this.inputs;
    const [batch, channels, states] = this.h.shape;
    for (let b = 0, i = 0; b < batch; b++) {
      for (let d = 0; d < channels; d++) {
        const u_t = u.at(b, d, t);
        const delta_t = delta.at(b, d, t);
        let y_t = D ? D.at(d) * u_t : 0;
        for (let n = 0; n < states; n++, i++) {
          this.decay.data[i] = Math.exp(delta_t * A.at(d, n));
          this.kept.data[i] = this.decay.data[i] * this.h.data[i];
          this.written.data[i] = delta_t * B.at(b, n, t) * u_t;
          this.h.data[i] = this.kept.data[i] + this.written.data[i];
          y_t += this.h.data[i] * C.at(b, n, t);
        }
        this.y.data[b * channels + d] = z ? y_t * silu(z.at(b, d, t)) : y_t;
      }
    }
    if (t % KEEP_EVERY === 0) this.keptStates.set(t, this.h.data.slice());
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
