/** Custom DAP requests that only the PyTorch target answers. */

/** Runs the next step of training under a check of every op, to find where a non-finite value comes from. */
export const FIND_ORIGIN_REQUEST = 'mamba/findOrigin';

/** Changes the trace log of the running program. */
export const TRACE_REQUEST = 'mamba/trace';

export interface TraceArguments {
  level: 'off' | 'boundaries' | 'modules' | 'ops';
  /** JSON-lines file. */
  file?: string;
}

/** Custom event: one line of the trace log. */
export const TRACE_EVENT = 'mamba/trace';
