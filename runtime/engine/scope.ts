import { type Scope, TensorValue, type Value } from '../expression';
import { type Level, plainNames, tensorsOf } from './names';
import type { RunState } from './state';

/**
 * The names that an expression sees on a level: the step's and the site's tensors, variables of the source,
 * parameters, and plain words such as `layer`. Words come first, then the nearest tensor.
 */
export function scopeOf(state: RunState, level: Level, extra: Record<string, Value> = {}): Scope {
  const plain: Record<string, Value> = { ...plainNames(state, level), ...extra };
  return {
    get(name) {
      // `pass` itself is a statement of Python's, so expressions have another word for it.
      if (name === 'pass_') return plain['pass'];
      if (Object.hasOwn(plain, name)) return plain[name];
      for (const t of tensorsOf(state, level)) if (t.name === name) return new TensorValue(t.tensor());
      const parameter = state.program.parameter(name);
      return parameter && new TensorValue(state.execution.tensor(parameter.value));
    },
    names: () => [...new Set([...[...tensorsOf(state, level)].map((t) => t.name), ...Object.keys(plain)])],
  };
}
