import { type Scope, TensorValue, type Value } from '../expression';
import { type Level, plainNames, tensorsOf } from './names';
import type { RunState } from './state';

/**
 * The names that an expression sees on a level: the step's and the site's tensors, variables of the source,
 * parameters, and plain words such as `layer`. The nearest meaning of a name wins.
 */
export function scopeOf(state: RunState, level: Level, extra: Record<string, Value> = {}): Scope {
  const plain: Record<string, Value> = { ...plainNames(state, level), ...extra };
  const tensors = tensorsOf(state, level);
  return {
    get(name) {
      const found = tensors.find((t) => t.name === name);
      if (found) return new TensorValue(found.tensor());
      const parameter = state.program.parameter(name);
      if (parameter) return new TensorValue(state.execution.tensor(parameter.value));
      return Object.hasOwn(plain, name) ? plain[name] : undefined;
    },
    names: () => [...new Set([...tensors.map((t) => t.name), ...Object.keys(plain)])],
  };
}
