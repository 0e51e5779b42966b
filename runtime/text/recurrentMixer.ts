/**
 * One layer of the recurrence, for T tokens that follow each other. Axes: E d_model, D d_inner, N d_state,
 * R dt_rank, W taps of the convolution.
 */
import { silu, softplus } from '../kernels/activation';
import { exp } from '../kernels/exp';
import { linear } from '../kernels/linear';
import { native } from '../kernels/native';
import type { MixerConfig } from '../models/mixer';
import { Tensor } from '../tensor/tensor';
import { matvec } from './matvec';

export interface Linear {
  /** (out, in). */
  readonly weight: Tensor;
  /** (out). */
  readonly bias?: Tensor;
}

export interface LayerWeights {
  readonly norm: Float32Array;
  readonly inProj: Linear;
  /** (D, W) and (D). */
  readonly conv1d: { readonly weight: Float32Array; readonly bias?: Float32Array };
  readonly xProj: Linear;
  readonly dtProj: Linear;
  readonly outProj: Linear;
  /** (D, N). */
  readonly A: Float32Array;
  readonly D: Float32Array;
}

/** What a layer remembers of all the tokens so far. */
export interface LayerState {
  /** The convolution's last inputs, (D, W), newest last. */
  readonly conv: Float32Array;
  /** The scan's state, (D, N). */
  readonly h: Float32Array;
}

/** Where the vectors of some tokens are kept; all layers use the same. Each tensor is (1, T, width). */
export interface Room {
  readonly tokens: number;
  /** (E), into a layer. */
  readonly x: Tensor;
  /** (2D): the convolution's input, then z. */
  readonly xz: Tensor;
  /** (D). */
  readonly u: Tensor;
  /** (R + 2N): dt, B and C. */
  readonly xDbl: Tensor;
  /** (R), a view of them. */
  readonly dt: Tensor;
  /** (D). */
  readonly delta: Tensor;
  /** (D). */
  readonly y: Tensor;
  /** (E), out of a layer. */
  readonly mixed: Tensor;
}

/** Gives rooms for up to `most` tokens; they share their memory, so only the last one is valid. */
export function roomMaker(c: MixerConfig, most: number): (tokens: number) => Room {
  const widths = {
    ...{ x: c.dModel, xz: 2 * c.dInner, u: c.dInner, xDbl: c.dtRank + 2 * c.dState },
    ...{ delta: c.dInner, y: c.dInner, mixed: c.dModel },
  };
  const data = Object.entries(widths).map(([name, width]) => ({
    name,
    width,
    array: allocate(most * width),
  }));
  return (tokens) => {
    const shaped = data.map(({ name, width, array }) => [name, new Tensor(array, [1, tokens, width])]);
    const room = Object.fromEntries(shaped) as Record<keyof typeof widths, Tensor>;
    const { data: rows, strides } = room.xDbl;
    return { ...room, tokens, dt: new Tensor(rows, [1, tokens, c.dtRank], strides) };
  };
}

/** In the memory of the SIMD kernels where there are any, so that they need not copy. */
export function allocate(floats: number): Float32Array {
  return (native()?.memory.allocate(floats) ?? new Float32Array(floats)).fill(0);
}

/** x (T, E) -> mixed (T, E). */
export function mixerStep(w: LayerWeights, state: LayerState, room: Room, c: MixerConfig): void {
  project(room.x, w.inProj, room.xz);
  convSteps(w.conv1d, state.conv, room, c);
  project(room.u, w.xProj, room.xDbl);
  project(room.dt, w.dtProj, room.delta);
  scanSteps(w, state.h, room, c);
  project(room.y, w.outProj, room.mixed);
}

/** y (1, T, out) = x (1, T, in) weight^T + bias. One token alone, without SIMD, is a product with a vector. */
export function project(x: Tensor, { weight, bias }: Linear, y: Tensor): void {
  if (y.shape[1] > 1 || native()?.memory.holds(weight.data)) linear(x, weight, bias, y);
  else matvec(weight.toArray(), x.toArray(), bias?.toArray(), y.data);
}

/** Shifts the inputs (T, D) into the window (D, W) one by one; u = silu(its weighted sums). */
function convSteps({ weight, bias }: LayerWeights['conv1d'], conv: Float32Array, room: Room, c: MixerConfig) {
  const [x, u] = [room.xz.data, room.u.data];
  const taps = c.dConv;
  for (let t = 0; t < room.tokens; t++) {
    const [from, to] = [t * 2 * c.dInner, t * c.dInner];
    for (let d = 0, at = 0; d < c.dInner; d++, at += taps) {
      const newest = at + taps - 1;
      let sum = bias ? bias[d] : 0;
      for (let k = at; k < newest; k++) {
        conv[k] = conv[k + 1];
        sum += weight[k] * conv[k];
      }
      conv[newest] = x[from + d];
      u[to + d] = silu(sum + weight[newest] * conv[newest]);
    }
  }
}

/** delta = softplus(delta); h = exp(delta A) h + delta B u, in place; y = (C h + D u) silu(z). */
function scanSteps({ A, D }: LayerWeights, h: Float32Array, room: Room, c: MixerConfig): void {
  const [xz, u, xDbl, delta, y] = [room.xz, room.u, room.xDbl, room.delta, room.y].map(({ data }) => data);
  const states = c.dState;
  for (let t = 0; t < room.tokens; t++) {
    const row = t * c.dInner;
    const z = (2 * t + 1) * c.dInner;
    const B = t * (c.dtRank + 2 * states) + c.dtRank;
    const C = B + states;
    for (let d = 0, i = 0; d < c.dInner; d++) {
      const u_d = u[row + d];
      const delta_d = softplus(delta[row + d]);
      let y_d = D[d] * u_d;
      for (let n = 0; n < states; n++, i++) {
        h[i] = exp(delta_d * A[i]) * h[i] + delta_d * xDbl[B + n] * u_d;
        y_d += xDbl[C + n] * h[i];
      }
      y[row + d] = y_d * silu(xz[z + d]);
    }
  }
}

/** y = x / sqrt(mean(x^2) + eps) * weight, for each row of x (T, E). */
export function rmsNorm(x: Float32Array, weight: Float32Array, eps: number, tokens: number, y: Float32Array) {
  const width = weight.length;
  for (let row = 0; row < tokens * width; row += width) {
    let square = 0;
    for (let k = row; k < row + width; k++) square += x[k] * x[k];
    const scale = 1 / Math.sqrt(square / width + eps);
    for (let k = 0; k < width; k++) y[row + k] = x[row + k] * scale * weight[k];
  }
}
