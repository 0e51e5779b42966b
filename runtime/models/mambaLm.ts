/**
 * The Mamba language model (Gu & Dao 2023, Section 3.4): tokens become vectors, a stack of Mamba mixers reads
 * them from left to right, and a head scores every token of the vocabulary as the next one. Axes: B batch,
 * L length, E = d_model, V vocabulary.
 */
import type { ModelBuilder } from '../program/modelBuilder';
import type { Value } from '../program/value';
import type { MambaLmConfig } from './mambaLmConfig';
import { mixer } from './mixer';

/** input_ids (B, L) -> logits (B, L, V): at each position, the scores of the token that follows it. */
export function mambaLm(p: ModelBuilder, inputIds: Value, c: MambaLmConfig): Value {
  const embedded = p.embedding(inputIds, 'embedding', c.vocabSize, c.mixer.dModel); // (B, L, E)
  const hidden = layers(p, embedded, c); // (B, L, E)
  const features = p.rmsNorm(hidden, 'norm_f', c.normEpsilon); // (B, L, E)
  return head(p, features, c); // (B, L, V)
}

/** All blocks one after the other. */
function layers(p: ModelBuilder, embedded: Value, c: MambaLmConfig): Value {
  let hidden = embedded;
  for (let i = 0; i < c.depth; i++) {
    hidden = block(p, hidden, i, c);
  }
  return hidden;
}

/** Norm, mix, add: hidden (B, L, E) -> the same. */
function block(p: ModelBuilder, hidden: Value, index: number, c: MambaLmConfig): Value {
  return p.module(`layers.${index}`, 'Block', { hidden }, () => {
    const x = p.rmsNorm(hidden, 'norm', c.normEpsilon);
    const mixed = p.module('mixer', 'Mamba', { x }, () => mixer(p, x, c.mixer));
    return p.add(mixed, hidden);
  });
}

/** features (B, L, E) -> logits (B, L, V). A tied head reads the embedding's table the other way round. */
function head(p: ModelBuilder, features: Value, c: MambaLmConfig): Value {
  if (!c.tiedHead) return p.linear(features, 'lm_head', c.vocabSize, false);
  const table = p.parameter('embedding.weight', [c.vocabSize, c.mixer.dModel]);
  return p.linearWith(features, table, 'lm_head', false);
}
