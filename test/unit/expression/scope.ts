import { type Scope, TensorValue, type Value } from '../../../runtime/expression';
import { numel, Tensor } from '../../../runtime/tensor/tensor';

export function scopeOf(values: Record<string, Value>): Scope {
  return { get: (name) => values[name], names: () => Object.keys(values) };
}

/** A tensor whose element k (row-major) is `f(k)`. */
export function filled(shape: number[], f: (k: number) => number): TensorValue {
  return new TensorValue(
    new Tensor(
      Float32Array.from({ length: numel(shape) }, (_, k) => f(k)),
      shape,
    ),
  );
}

export function vector(...xs: number[]): TensorValue {
  return filled([xs.length], (k) => xs[k]);
}

/** What a condition sees at the entry of a scan; delta's largest element is 0.42. */
export function scanScope(): Scope {
  return scopeOf({
    delta: filled([1, 384, 197], (k) => (k === 1000 ? 0.42 : 0.05 * Math.abs(Math.sin(k)))),
    bad: filled([2, 3], (k) => [1, Number.NaN, 2, Infinity, -Infinity, 3][k]),
    grad: filled([10], () => 0.10004),
    u: new TensorValue(Tensor.scalar(2)),
    layer: 3,
    direction: 'backward',
    t: 57,
    h: null,
  });
}
