import type { DebugProtocol } from '@vscode/debugprotocol';
import type { FilterName, FilterSetting } from '../../../runtime/engine/finding';
import { DEFAULT_THRESHOLDS } from '../../../runtime/engine/gradientHealth';
import type { RequestArguments } from '../arguments';

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
  {
    filter: 'exploding',
    label: 'Exploding gradient',
    description: `Stops in the backward pass where the norm of a parameter's gradient is above ${DEFAULT_THRESHOLDS.exploding}, or above the number in its condition.`,
    default: false,
    supportsCondition: true,
    conditionDescription: 'The largest norm that is not exploding, e.g. 100',
  },
  {
    filter: 'vanishing',
    label: 'Vanishing gradient',
    description: `Stops in the backward pass where the norm of a parameter's gradient is below ${DEFAULT_THRESHOLDS.vanishing}, or below the number in its condition.`,
    default: false,
    supportsCondition: true,
    conditionDescription: 'The smallest norm that is not vanishing, e.g. 1e-9',
  },
];

const NAMES = new Set(EXCEPTION_FILTERS.map((f) => f.filter));

/** A filter as a client sets it, and why it cannot be used if so. */
export interface FilterRequest {
  setting?: FilterSetting;
  problem?: string;
}

/** The filters that a client switches on, plain or with a threshold as their condition. */
export function readFilters(args: RequestArguments): FilterRequest[] {
  const plain = args.strings('filters').map((filter) => read(filter, undefined));
  const options = args
    .objects('filterOptions')
    .map((o) => read(o.string('filterId'), o.optionalString('condition')));
  return [...plain, ...options];
}

function read(filter: string, condition: string | undefined): FilterRequest {
  if (!NAMES.has(filter)) return { problem: `There is no filter "${filter}".` };
  const setting: FilterSetting = { filter: filter as FilterName };
  if (!condition?.trim()) return { setting };
  const threshold = Number(condition);
  if (!(threshold >= 0)) return { problem: `The threshold "${condition}" is not a number; write e.g. 1e3.` };
  return { setting: { ...setting, threshold } };
}
