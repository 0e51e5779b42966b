/**
 * The Mamba language model as a recurrence (Gu & Dao 2023, Section 3.3): one token at a time, with a state that
 * does not grow. It computes what the parallel form computes, for one sequence. Axes: D d_inner, N d_state,
 * R dt_rank, W taps of the convolution.
 */
import { silu, softplus } from '../kernels/activation';
import type { MambaLmConfig } from '../models/mambaLmConfig';
import type { MixerConfig } from '../models/mixer';

/** The values of a parameter by its name in the model. */
export type Weights = (name: string) => Float32Array;

/** What a layer remembers of all the tokens so far. */
export interface LayerState {
  /** The convolution's last inputs, (D, W), newest last. */
  readonly conv: Float32Array;
  /** The scan's state, (D, N). */
  readonly h: Float32Array;
}

export class RecurrentMamba {
  readonly states: readonly LayerState[];
  private readonly layers: readonly LayerWeights[];
  private readonly embedding: Float32Array;
  private readonly normF: Float32Array;
  private readonly head: Linear;

  constructor(
    readonly config: MambaLmConfig,
    weights: Weights,
  ) {
    const indices = Array.from({ length: config.depth }, (_, i) => i);
    this.layers = indices.map((i) => layerWeights(weights, `layers.${i}`, config.mixer));
    this.states = indices.map(() => emptyState(config.mixer));
    this.embedding = weights('embedding.weight');
    this.normF = weights('norm_f.weight');
    this.head = { weight: config.tiedHead ? this.embedding : weights('lm_head.weight') };
  }

  /** Forgets everything. */
  reset(): void {
    for (const { conv, h } of this.states) {
      conv.fill(0);
      h.fill(0);
    }
  }

  /** Reads one token; gives the scores of the next one, (V). */
  step(token: number): Float32Array {
    const { vocabSize, mixer, normEpsilon } = this.config;
    if (!Number.isInteger(token) || token < 0 || token >= vocabSize)
      throw new RangeError(`Token ${token} is not one of the ${vocabSize} of the vocabulary.`);
    const hidden = this.embedding.slice(token * mixer.dModel, (token + 1) * mixer.dModel);
    this.layers.forEach((w, i) => {
      const mixed = mixerStep(rmsNorm(hidden, w.norm, normEpsilon), w, this.states[i], mixer);
      for (let k = 0; k < hidden.length; k++) hidden[k] += mixed[k];
    });
    return linear(rmsNorm(hidden, this.normF, normEpsilon), this.head);
  }
}

interface Linear {
  /** (out, in). */
  readonly weight: Float32Array;
  readonly bias?: Float32Array;
}

interface LayerWeights {
  readonly norm: Float32Array;
  readonly inProj: Linear;
  readonly conv1d: Linear;
  readonly xProj: Linear;
  readonly dtProj: Linear;
  readonly outProj: Linear;
  /** (D, N). */
  readonly A: Float32Array;
  readonly D: Float32Array;
}

function layerWeights(weights: Weights, layer: string, c: MixerConfig): LayerWeights {
  const linearOf = (name: string, bias: boolean): Linear => ({
    weight: weights(`${layer}.mixer.${name}.weight`),
    bias: bias ? weights(`${layer}.mixer.${name}.bias`) : undefined,
  });
  return {
    norm: weights(`${layer}.norm.weight`),
    inProj: linearOf('in_proj', c.bias),
    conv1d: linearOf('conv1d', c.convBias),
    xProj: linearOf('x_proj', false),
    dtProj: linearOf('dt_proj', true),
    outProj: linearOf('out_proj', c.bias),
    A: weights(`${layer}.mixer.A_log`).map((a) => -Math.exp(a)),
    D: weights(`${layer}.mixer.D`),
  };
}

function emptyState(c: MixerConfig): LayerState {
  return { conv: new Float32Array(c.dInner * c.dConv), h: new Float32Array(c.dInner * c.dState) };
}

/** One token through one mixer: x (E) -> (E). */
function mixerStep(x: Float32Array, w: LayerWeights, state: LayerState, c: MixerConfig): Float32Array {
  const xz = linear(x, w.inProj);
  const u = convStep(xz.subarray(0, c.dInner), w.conv1d, state.conv, c.dConv).map(silu); // (D)
  const z = xz.subarray(c.dInner); // (D)
  const xDbl = linear(u, w.xProj); // (R + 2N)
  const dt = xDbl.subarray(0, c.dtRank);
  const B = xDbl.subarray(c.dtRank, c.dtRank + c.dState);
  const C = xDbl.subarray(c.dtRank + c.dState);
  const delta = linear(dt, w.dtProj).map(softplus); // (D)
  const y = scanStep(u, delta, B, C, w, state.h); // (D)
  return linear(
    y.map((y_d, d) => y_d * silu(z[d])),
    w.outProj,
  );
}

/** Shifts x (D) into the window (D, W) and gives its weighted sum, (D). */
function convStep(x: Float32Array, { weight, bias }: Linear, conv: Float32Array, taps: number): Float32Array {
  return x.map((x_d, d) => {
    const at = d * taps;
    conv.copyWithin(at, at + 1, at + taps);
    conv[at + taps - 1] = x_d;
    let sum = bias ? bias[d] : 0;
    for (let k = 0; k < taps; k++) sum += weight[at + k] * conv[at + k];
    return sum;
  });
}

/** h = exp(delta A) h + delta B u, in place; gives y = C h + D u, (D). */
function scanStep(
  u: Float32Array,
  delta: Float32Array,
  B: Float32Array,
  C: Float32Array,
  { A, D }: LayerWeights,
  h: Float32Array,
): Float32Array {
  const states = B.length;
  return u.map((u_d, d) => {
    let y = D[d] * u_d;
    for (let n = 0, i = d * states; n < states; n++, i++) {
      h[i] = Math.exp(delta[d] * A[i]) * h[i] + delta[d] * B[n] * u_d;
      y += C[n] * h[i];
    }
    return y;
  });
}

/** x / sqrt(mean(x^2) + eps) * weight. */
function rmsNorm(x: Float32Array, weight: Float32Array, eps: number): Float32Array {
  const square = x.reduce((sum, v) => sum + v * v, 0) / x.length;
  const scale = 1 / Math.sqrt(square + eps);
  return x.map((v, i) => v * scale * weight[i]);
}

/** weight (out, in) x (in) + bias -> (out). */
function linear(x: Float32Array, { weight, bias }: Linear): Float32Array {
  const y = new Float32Array(weight.length / x.length);
  for (let i = 0, at = 0; i < y.length; i++) {
    let sum = bias ? bias[i] : 0;
    for (let k = 0; k < x.length; k++, at++) sum += weight[at] * x[k];
    y[i] = sum;
  }
  return y;
}
