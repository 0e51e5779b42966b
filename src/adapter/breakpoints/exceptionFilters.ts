import type { DebugProtocol } from '@vscode/debugprotocol';
import type { NonFiniteFilter } from '../../../runtime/engine/nonfinite';

/** The filters that a person can switch on in the Breakpoints view. */
export const EXCEPTION_FILTERS: DebugProtocol.ExceptionBreakpointsFilter[] = [
  {
    filter: 'nan',
    label: 'NaN produced',
    description:
      'Stops after the op that makes the first NaN. Looks at every output once, about 1 ns per element.',
    default: true,
  },
  {
    filter: 'inf',
    label: 'Inf produced',
    description:
      'Stops after the op that makes the first infinity. Looks at every output once, about 1 ns per element.',
    default: true,
  },
];

/** The filters that exist, of those that a client names. */
export function readFilters(names: readonly string[]): NonFiniteFilter[] {
  return names.filter((name): name is NonFiniteFilter => name === 'nan' || name === 'inf');
}
