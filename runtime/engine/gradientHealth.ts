import { formatNumber } from '../../src/protocol/numbers';
import type { GradientEntry } from '../../src/protocol/requests';
import { absmaxOf, statistics, sumOfSquares } from '../kernels/statistics';
import type { Value } from '../program/value';
import { type FilterSetting, type Finding, TITLES } from './finding';
import type { RunState } from './state';

/** Norms beyond which a gradient is called exploding or vanishing, unless the person says otherwise. */
export const DEFAULT_THRESHOLDS = { exploding: 1e3, vanishing: 1e-7 };

/** Norm, mean and largest magnitude of a gradient; NaN when it is not finite. */
function measure(state: RunState, value: Value): Omit<GradientEntry, 'name'> {
  const tensor = state.execution.tensor(value);
  const s = statistics(tensor);
  if (s.count < tensor.numel || s.count === 0)
    return { norm: Number.NaN, mean: Number.NaN, absmax: Number.NaN };
  return { norm: Math.sqrt(sumOfSquares(s)), mean: s.sum / s.count, absmax: absmaxOf(s) };
}

/** All gradients that the backward pass has completed so far, in the order of the model. */
export function gradientsOf(state: RunState): GradientEntry[] {
  return [...state.program.gradients.keys()].flatMap((name) => {
    const value = state.gradientOf(name);
    return value ? [{ name, ...measure(state, value) }] : [];
  });
}

/** A gradient completed by the op at the current position whose norm is beyond a threshold. */
export function findGradientFault(state: RunState, filters: readonly FilterSetting[]): Finding | undefined {
  for (const { filter, threshold } of filters) {
    if (filter !== 'exploding' && filter !== 'vanishing') continue;
    const limit = threshold ?? DEFAULT_THRESHOLDS[filter];
    for (const [name, value] of state.gradientsAt(state.position.event)) {
      const { norm, absmax } = measure(state, value);
      const beyond = filter === 'exploding' ? norm > limit : norm < limit;
      if (!beyond) continue;
      const sign = filter === 'exploding' ? '>' : '<';
      const text = `${name}: the norm of its gradient is ${formatNumber(norm)} ${sign} ${formatNumber(limit)}`;
      return {
        filter,
        title: TITLES[filter],
        text,
        details: `${text}; its largest magnitude is ${formatNumber(absmax)}.`,
      };
    }
  }
  return undefined;
}
