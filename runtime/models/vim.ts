/**
 * Vision Mamba (Zhu et al. 2024): an image is cut into patches, the patches become a sequence, and a stack of
 * blocks with bidirectional Mamba mixers turns it into class scores. Axes: B batch, M patches, L = M + class
 * tokens, E = d_model.
 */
import { ropeTables } from '../kernels/rope';
import type { ModelBuilder } from '../program/modelBuilder';
import type { Value } from '../program/value';
import { mixer } from './mixer';
import type { VimConfig } from './vimConfig';

/** image (B, C, H, W) -> logits (B, num_classes); (B, L, num_classes) with final_pool_type "all". */
export function visionMamba(p: ModelBuilder, image: Value, c: VimConfig): Value {
  const patches = p.patchEmbed(image, 'patch_embed.proj', c.embedDim, c.patchSize, c.stride); // (B, M, E)
  const tokens = withClassTokens(p, patches, c); // (B, L, E)
  const positioned = c.absPosEmbed ? p.add(tokens, positionEmbedding(p, tokens)) : tokens;
  const sequence = c.flipSequence ? p.flip(positioned, 1) : positioned;
  const { hidden, residual } = c.bidirectional ? pairedLayers(p, sequence, c) : layers(p, sequence, c);
  const last = residual ? p.add(hidden, residual) : hidden;
  const features = norm(p, last, 'norm_f', c); // (B, L, E)
  const pooled = pool(p, features, patches.shape[1], c); // (B, E)
  const scores = c.numClasses > 0 ? p.linear(pooled, 'head', c.numClasses, true) : pooled;
  return c.finalPoolType === 'max' ? p.max(scores, 1) : scores;
}

/** patches (B, M, E) -> (B, L, E) with the class token in the middle, at the head, or at both ends. */
function withClassTokens(p: ModelBuilder, patches: Value, c: VimConfig): Value {
  const M = patches.shape[1];
  const token = (name: string) => p.parameter(name, [1, 1, c.embedDim]);
  switch (c.clsToken) {
    case 'none':
      return patches;
    case 'double':
      return p.concat([token('cls_token_head'), patches, token('cls_token_tail')], 1);
    case 'head':
      return p.concat([token('cls_token'), patches], 1);
    case 'middle': {
      const before = p.slice(patches, 1, 0, Math.floor(M / 2));
      const after = p.slice(patches, 1, Math.floor(M / 2), M);
      return p.concat([before, token('cls_token'), after], 1);
    }
  }
}

function positionEmbedding(p: ModelBuilder, tokens: Value): Value {
  return p.parameter('pos_embed', [1, ...tokens.shape.slice(1)], ['B', 'L', 'E']);
}

/** What goes from block to block: the mixer's output and the sum of all before it. */
interface Stream {
  hidden: Value;
  residual?: Value;
}

/** All blocks one after the other. */
function layers(p: ModelBuilder, sequence: Value, c: VimConfig): Stream {
  let stream: Stream = { hidden: sequence };
  for (let i = 0; i < c.depth; i++) {
    stream = block(p, rotated(p, stream, c), i, c);
  }
  return stream;
}

/** if_bidirectional: blocks 2i and 2i + 1 see the sequence in opposite order, and their outputs are added. */
function pairedLayers(p: ModelBuilder, sequence: Value, c: VimConfig): Stream {
  let stream: Stream = { hidden: sequence };
  for (let i = 0; i + 1 < c.depth; i += 2) {
    const turned = rotated(p, stream, c);
    const forward = p.direction('forward', () => block(p, turned, i, c));
    const backward = p.direction('backward', () => block(p, flipped(p, turned), i + 1, c));
    const back = flipped(p, backward);
    const hidden = p.add(forward.hidden, back.hidden);
    stream = { hidden, residual: p.add(forward.residual!, back.residual!) };
  }
  return stream;
}

function flipped(p: ModelBuilder, s: Stream): Stream {
  return { hidden: p.flip(s.hidden, 1), residual: s.residual && p.flip(s.residual, 1) };
}

/** Rotary position embedding before a block, if the model has one. */
function rotated(p: ModelBuilder, s: Stream, c: VimConfig): Stream {
  if (!c.rope) return s;
  const grid = Math.floor(c.imgSize / c.patchSize);
  const tables = ropeTables(c.embedDim, c.pretrainedGrid, grid);
  const cos = p.buffer('rope.freqs_cos', [grid * grid, c.embedDim], tables.cos);
  const sin = p.buffer('rope.freqs_sin', [grid * grid, c.embedDim], tables.sin);
  const turn = (x: Value) =>
    c.flipSequence ? p.flip(p.rope(p.flip(x, 1), cos, sin), 1) : p.rope(x, cos, sin);
  return { hidden: turn(s.hidden), residual: s.residual && c.ropeResidual ? turn(s.residual) : s.residual };
}

/** Add, norm, mix: hidden and residual (B, L, E) -> the same. */
function block(p: ModelBuilder, s: Stream, index: number, c: VimConfig): { hidden: Value; residual: Value } {
  return p.module(`layers.${index}`, 'Block', { ...s }, () => {
    const residual = s.residual ? p.add(s.hidden, s.residual) : s.hidden;
    const x = norm(p, residual, 'norm', c);
    const hidden = p.module('mixer', 'Mamba', { x }, () => mixer(p, x, c.mixer));
    return { hidden, residual };
  });
}

function norm(p: ModelBuilder, x: Value, name: string, c: VimConfig): Value {
  return c.rmsNorm ? p.rmsNorm(x, name, c.normEpsilon) : p.layerNorm(x, name, c.normEpsilon);
}

/** features (B, L, E) -> (B, E): the class token where there is one, else by final_pool_type. */
function pool(p: ModelBuilder, features: Value, patches: number, c: VimConfig): Value {
  const L = features.shape[1];
  if (c.clsToken === 'double')
    return p.scale(p.add(p.select(features, 1, 0), p.select(features, 1, L - 1)), 1 / 2);
  if (c.clsToken === 'head') return p.select(features, 1, 0);
  if (c.clsToken === 'middle') return p.select(features, 1, Math.floor(patches / 2));
  if (c.finalPoolType === 'none') return p.select(features, 1, L - 1);
  if (c.finalPoolType === 'mean') return p.mean(features, 1);
  return features; // "max" is taken over the scores, "all" keeps every token
}
