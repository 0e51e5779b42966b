import type { DebugProtocol } from '@vscode/debugprotocol';
import type { RequestArguments } from '../arguments';
import { EXCEPTION_FILTERS, readFilters } from '../breakpoints/exceptionFilters';

/** debugpy's own filters. */
export const PYTHON_FILTERS: DebugProtocol.ExceptionBreakpointsFilter[] = [
  {
    filter: 'raised',
    label: 'Raised Exceptions',
    default: false,
    description: 'Break whenever any exception is raised.',
  },
  {
    filter: 'uncaught',
    label: 'Uncaught Exceptions',
    default: true,
    description: 'Break when the process is exiting due to unhandled exception.',
  },
  {
    filter: 'userUnhandled',
    label: 'User Uncaught Exceptions',
    default: false,
    description: 'Break when exception escapes into library code.',
  },
];

/** Ours. Off at first: looking at a tensor on a GPU makes the program wait for it. */
export const TENSOR_FILTERS: DebugProtocol.ExceptionBreakpointsFilter[] = EXCEPTION_FILTERS.map((filter) => ({
  ...filter,
  default: false,
  description: filter.description?.replace('op that makes', 'scan or module that makes'),
}));

const PYTHON = new Set(PYTHON_FILTERS.map((f) => f.filter));

/** A client's choice of filters, split by who does them. */
export interface FilterChoice {
  /** The request for debugpy, which does not know `filterOptions`. */
  python: DebugProtocol.SetExceptionBreakpointsArguments;
  tensor: { filter: string; threshold?: number }[];
  /** One answer for each filter in the order asked. */
  answers: DebugProtocol.Breakpoint[];
}

export function splitFilters(args: RequestArguments): FilterChoice {
  const plain = args.strings('filters');
  const options = args.objects('filterOptions').map((o) => o.string('filterId'));
  const requests = readFilters(args);
  const tensor: FilterChoice['tensor'] = [];
  const answers = [...plain, ...options].map((filter, i) => {
    if (PYTHON.has(filter)) return { verified: true };
    const { setting, problem } = requests[i];
    if (setting) tensor.push(setting);
    return { verified: setting !== undefined, message: problem };
  });
  const filters = [...plain, ...options].filter((filter) => PYTHON.has(filter));
  const exceptionOptions = args.raw('exceptionOptions') as DebugProtocol.ExceptionOptions[] | undefined;
  return { python: { filters, exceptionOptions }, tensor, answers };
}
