import { sumParts } from '../../kernels/backward/sum';
import type { Layout } from '../../tensor/tensor';
import type { Op, OpKind, Output } from '../op';
import type { Value } from '../value';

/** What makes up the backward pass beside the rules of the forward ops' own kinds. */

/** The gradient of one op, by the rule of its kind: `dx` has the shape of `x`. */
export function gradientOf(op: Op, inputs: readonly [role: string, value: Value][]): OpKind {
  const outputs: Record<string, Output> = {};
  for (const [role, { shape, axes }] of inputs) outputs[`d${role}`] = { shape, axes };
  return { name: `${op.kind.name}_grad`, infer: () => outputs, run: op.kind.backward!.run };
}

/** The gradient of the loss with respect to itself: 1. */
export function seedOf(loss: Value): OpKind {
  return {
    name: 'seed_grad',
    infer: () => ({ dy: { shape: loss.shape } }),
    run: (_, { dy }) => {
      dy.data.fill(1);
    },
  };
}

/**
 * The gradient of a value that is used several times, or in parts: the sum of what each use adds. `places` says
 * for each input where in the value's storage it belongs; what no use reads has gradient 0.
 */
export function sumOf(value: Value, places: readonly Layout[]): OpKind {
  return {
    name: 'sum_grad',
    infer: () => ({ sum: { shape: value.shape, axes: value.axes } }),
    run: (parts, { sum }) => sumParts(Object.values(parts), places, sum),
  };
}
