import { Builder } from './builder';
import * as elementwise from './ops/elementwise';
import { embedding } from './ops/embedding';
import * as layers from './ops/layers';
import { crossEntropy } from './ops/loss';
import * as pointwise from './ops/pointwise';
import { selectiveScan } from './ops/scan';
import * as shapes from './ops/shapes';
import { sum } from './ops/sum';
import * as views from './ops/views';
import type { Value } from './value';

/** The tensors of a selective scan by the paper's names; see `program/ops/scan.ts` for shapes. */
export interface ScanInputs {
  u: Value;
  delta: Value;
  A: Value;
  B: Value;
  C: Value;
  D?: Value;
  z?: Value;
}

/** The vocabulary that models are written in: each method appends one op and gives its output. */
export class ModelBuilder extends Builder {
  /** x (..., in) -> (..., out) with the parameters `name.weight` and, with `bias`, `name.bias`. */
  linear(x: Value, name: string, width: number, bias: boolean): Value {
    return this.linearWith(x, this.parameter(`${name}.weight`, [width, x.shape.at(-1)!]), name, bias);
  }

  /** The same with a weight (out, in) that another layer owns. */
  linearWith(x: Value, weight: Value, name: string, bias: boolean): Value {
    return this.op(
      layers.linear,
      { x, weight, bias: bias ? this.parameter(`${name}.bias`, [weight.shape[0]]) : undefined },
      {},
      name,
    ).y;
  }

  /** ids (B, L) -> (B, L, width): rows of the parameter `name.weight` (count, width). */
  embedding(ids: Value, name: string, count: number, width: number): Value {
    return this.op(embedding, { ids, weight: this.parameter(`${name}.weight`, [count, width]) }, {}, name).y;
  }

  /** x (B, in, L) -> (B, out, L): a linear layer along the channel axis. */
  project(x: Value, name: string, width: number, bias: boolean): Value {
    const weight = this.parameter(`${name}.weight`, [width, x.shape[1]]);
    return this.op(
      layers.project,
      { x, weight, bias: bias ? this.parameter(`${name}.bias`, [width]) : undefined },
      {},
      name,
    ).y;
  }

  /** Depthwise causal convolution: x (B, D, L) -> (B, D, L). */
  causalConv1d(x: Value, name: string, taps: number, bias: boolean): Value {
    const channels = x.shape[1];
    const weight = this.parameter(`${name}.weight`, [channels, 1, taps]);
    return this.op(
      layers.causalConv1d,
      { x, weight, bias: bias ? this.parameter(`${name}.bias`, [channels]) : undefined },
      {},
      name,
    ).y;
  }

  /** image (B, C, H, W) -> patches (B, M, width). */
  patchEmbed(x: Value, name: string, width: number, patch: number, stride: number): Value {
    const weight = this.parameter(`${name}.weight`, [width, x.shape[1], patch, patch]);
    return this.op(
      layers.patchEmbed,
      { x, weight, bias: this.parameter(`${name}.bias`, [width]) },
      { stride },
      name,
    ).y;
  }

  rmsNorm(x: Value, name: string, eps: number): Value {
    return this.op(
      layers.rmsNorm,
      { x, weight: this.parameter(`${name}.weight`, [x.shape[2]]) },
      { eps },
      name,
    ).y;
  }

  layerNorm(x: Value, name: string, eps: number): Value {
    const weight = this.parameter(`${name}.weight`, [x.shape[2]]);
    return this.op(
      layers.layerNorm,
      { x, weight, bias: this.parameter(`${name}.bias`, [x.shape[2]]) },
      { eps },
      name,
    ).y;
  }

  rope(x: Value, cos: Value, sin: Value): Value {
    return this.op(layers.rope, { x, cos, sin }).y;
  }

  /** y (B, D, L). */
  selectiveScan(inputs: ScanInputs): Value {
    return this.op(selectiveScan, { ...inputs }).y;
  }

  /** Mean over all rows: logits (..., K), labels (...) -> one number, shape []. */
  crossEntropy(logits: Value, labels: Value): Value {
    return this.op(crossEntropy, { logits, labels }).y;
  }

  silu(x: Value): Value {
    return this.op(elementwise.silu, { x }).y;
  }

  softplus(x: Value): Value {
    return this.op(elementwise.softplus, { x }).y;
  }

  exp(x: Value): Value {
    return this.op(elementwise.exp, { x }).y;
  }

  neg(x: Value): Value {
    return this.op(elementwise.neg, { x }).y;
  }

  scale(x: Value, by: number): Value {
    return this.op(elementwise.scale, { x }, { by }).y;
  }

  add(a: Value, b: Value): Value {
    return this.op(elementwise.add, { a, b }).y;
  }

  mul(a: Value, b: Value): Value {
    return this.op(elementwise.mul, { a, b }).y;
  }

  sub(a: Value, b: Value): Value {
    return this.op(pointwise.sub, { a, b }).y;
  }

  div(a: Value, b: Value): Value {
    return this.op(pointwise.div, { a, b }).y;
  }

  abs(x: Value): Value {
    return this.op(pointwise.abs, { x }).y;
  }

  log(x: Value): Value {
    return this.op(pointwise.log, { x }).y;
  }

  sqrt(x: Value): Value {
    return this.op(pointwise.sqrt, { x }).y;
  }

  tanh(x: Value): Value {
    return this.op(pointwise.tanh, { x }).y;
  }

  relu(x: Value): Value {
    return this.op(pointwise.relu, { x }).y;
  }

  sigmoid(x: Value): Value {
    return this.op(pointwise.sigmoid, { x }).y;
  }

  /** x + by. */
  shift(x: Value, by: number): Value {
    return this.op(pointwise.shift, { x }, { by }).y;
  }

  /** x ** by. */
  pow(x: Value, by: number): Value {
    return this.op(pointwise.pow, { x }, { by }).y;
  }

  concat(parts: readonly Value[], axis: number): Value {
    const sizes = parts.map((x) => x.shape[axis]);
    return this.op(shapes.concat, Object.fromEntries(parts.map((x, i) => [`x${i}`, x])), { axis, sizes }).y;
  }

  /** The sum over `axes`, which go away. */
  sum(x: Value, axes: readonly number[]): Value {
    return this.op(sum, { x }, { axes }).y;
  }

  mean(x: Value, axis: number): Value {
    return this.op(shapes.mean, { x }, { axis }).y;
  }

  max(x: Value, axis: number): Value {
    return this.op(shapes.max, { x }, { axis }).y;
  }

  transpose(x: Value, a: number, b: number): Value {
    const axes = [...x.axes];
    if (axes.length) [axes[a], axes[b]] = [axes[b], axes[a]];
    return this.op(views.transpose, { x }, { a, b, axes: axes.join(' ') }).y;
  }

  /** x backwards along an axis. */
  flip(x: Value, axis: number): Value {
    return this.op(views.flip, { x }, { axis }).y;
  }

  slice(x: Value, axis: number, start: number, end: number): Value {
    return this.op(views.slice, { x }, { axis, start, end }).y;
  }

  /** Every `step`-th element of an axis. */
  every(x: Value, axis: number, step: number): Value {
    return this.op(views.every, { x }, { axis, step }).y;
  }

  /** A new axis of size 1 in front of `axis`. */
  unsqueeze(x: Value, axis: number): Value {
    return this.op(views.unsqueeze, { x }, { axis }).y;
  }

  /** One element of an axis, which goes away. */
  select(x: Value, axis: number, index: number): Value {
    const axes = x.axes.filter((_, i) => i !== axis);
    return this.op(views.select, { x }, { axis, index, axes: axes.join(' ') }).y;
  }

  /** Parts of the given sizes along an axis. */
  split(x: Value, axis: number, sizes: readonly number[]): Value[] {
    let start = 0;
    return sizes.map((size) => {
      start += size;
      return this.slice(x, axis, start - size, start);
    });
  }
}
