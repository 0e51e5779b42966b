/**
 * The Mamba language model as a recurrence (Gu & Dao 2023, Section 3.3): it reads tokens in turn, with a state that
 * does not grow. It computes what the parallel form computes, for one sequence. Axes: T tokens, E d_model,
 * D d_inner, N d_state, R dt_rank, W taps of the convolution, V vocabulary.
 */
import type { MambaLmConfig } from '../models/mambaLmConfig';
import type { MixerConfig } from '../models/mixer';
import { Tensor } from '../tensor/tensor';
import {
  allocate,
  type LayerState,
  type LayerWeights,
  type Linear,
  mixerStep,
  project,
  type Room,
  rmsNorm,
  roomMaker,
} from './recurrentMixer';

/** The values of a parameter by its name in the model. */
export type Weights = (name: string) => Float32Array;

/** Tokens that are read at once when there are as many: matrix products are faster than those with a vector. */
export const BLOCK = 32;

export class RecurrentMamba {
  readonly states: readonly LayerState[];
  private readonly layers: readonly LayerWeights[];
  private readonly embedding: Float32Array;
  private readonly normF: Float32Array;
  private readonly head: Linear;
  private readonly roomFor: (tokens: number) => Room;
  private room: Room;
  /** (T, E), through all layers. */
  private readonly hidden: Float32Array;
  /** (1, 1, E) and (1, 1, V). */
  private readonly features: Tensor;
  private readonly logits: Tensor;

  constructor(
    readonly config: MambaLmConfig,
    weights: Weights,
  ) {
    const { depth, mixer, tiedHead, vocabSize } = config;
    const indices = Array.from({ length: depth }, (_, i) => i);
    this.layers = indices.map((i) => layerWeights(weights, `layers.${i}`, mixer));
    this.states = indices.map(() => emptyState(mixer));
    this.embedding = weights('embedding.weight');
    this.normF = weights('norm_f.weight');
    this.head = { weight: matrix(tiedHead ? this.embedding : weights('lm_head.weight'), mixer.dModel) };
    this.roomFor = roomMaker(mixer, BLOCK);
    this.room = this.roomFor(1);
    this.hidden = new Float32Array(BLOCK * mixer.dModel);
    this.features = new Tensor(allocate(mixer.dModel), [1, 1, mixer.dModel]);
    this.logits = new Tensor(allocate(vocabSize), [1, 1, vocabSize]);
  }

  /** Forgets everything. */
  reset(): void {
    for (const { conv, h } of this.states) {
      conv.fill(0);
      h.fill(0);
    }
    this.hidden.fill(0);
  }

  /** Reads tokens, `BLOCK` at once. Throws a `RangeError` when the vocabulary does not have one. */
  read(...tokens: readonly number[]): void {
    for (const token of tokens) this.check(token);
    for (let t = 0; t < tokens.length; t += BLOCK) this.readBlock(tokens.slice(t, t + BLOCK));
  }

  /** The scores (V) of the token that follows those that were read; written over by the next call. */
  scores(): Float32Array {
    const { dModel } = this.config.mixer;
    const last = this.hidden.subarray((this.room.tokens - 1) * dModel);
    rmsNorm(last, this.normF, this.config.normEpsilon, 1, this.features.data);
    project(this.features, this.head, this.logits);
    return this.logits.data;
  }

  /** Reads one token; gives the scores of the next one, as `scores` does. */
  step(token: number): Float32Array {
    this.read(token);
    return this.scores();
  }

  private check(token: number): void {
    const { vocabSize } = this.config;
    if (!Number.isInteger(token) || token < 0 || token >= vocabSize)
      throw new RangeError(`Token ${token} is not one of the ${vocabSize} of the vocabulary.`);
  }

  private readBlock(tokens: readonly number[]): void {
    const { mixer, normEpsilon } = this.config;
    const { hidden, embedding } = this;
    if (this.room.tokens !== tokens.length) this.room = this.roomFor(tokens.length);
    const { room } = this;
    tokens.forEach((token, t) => {
      const row = token * mixer.dModel;
      hidden.set(embedding.subarray(row, row + mixer.dModel), t * mixer.dModel);
    });
    const mixed = room.mixed.data;
    this.layers.forEach((layer, i) => {
      rmsNorm(hidden, layer.norm, normEpsilon, tokens.length, room.x.data);
      mixerStep(layer, this.states[i], room, mixer);
      for (let k = 0; k < tokens.length * mixer.dModel; k++) hidden[k] += mixed[k];
    });
  }
}

function layerWeights(weights: Weights, layer: string, c: MixerConfig): LayerWeights {
  const values = (name: string) => weights(`${layer}.mixer.${name}`);
  const linearOf = (name: string, inner: number, bias: boolean): Linear => ({
    weight: matrix(values(`${name}.weight`), inner),
    bias: bias ? vector(values(`${name}.bias`)) : undefined,
  });
  return {
    norm: weights(`${layer}.norm.weight`),
    inProj: linearOf('in_proj', c.dModel, c.bias),
    conv1d: { weight: values('conv1d.weight'), bias: c.convBias ? values('conv1d.bias') : undefined },
    xProj: linearOf('x_proj', c.dInner, false),
    dtProj: linearOf('dt_proj', c.dtRank, true),
    outProj: linearOf('out_proj', c.dInner, c.bias),
    A: values('A_log').map((a) => -Math.exp(a)),
    D: values('D'),
  };
}

function emptyState(c: MixerConfig): LayerState {
  return { conv: new Float32Array(c.dInner * c.dConv), h: new Float32Array(c.dInner * c.dState) };
}

function matrix(data: Float32Array, inner: number): Tensor {
  return new Tensor(data, [data.length / inner, inner]);
}

function vector(data: Float32Array): Tensor {
  return new Tensor(data, [data.length]);
}
