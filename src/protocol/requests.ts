/**
 * The custom DAP requests (`mamba/*`) that the views use. Both targets answer them, so every view works with
 * both. Replies never hold more than a screen can show.
 */
import type { Site } from './site';
import type { Summary } from './summary';

export const TENSORS_REQUEST = 'mamba/tensors';
export const TENSOR_DATA_REQUEST = 'mamba/tensorData';
/** Custom event: the tensors at the current site changed without a stop (e.g. a variable was set). */
export const TENSORS_CHANGED_EVENT = 'mamba/tensorsChanged';

export const GRADIENTS_REQUEST = 'mamba/gradients';

/** `mamba/gradients`: what the backward pass has completed so far, in the order of the model. */
export interface GradientsResponse {
  gradients: GradientEntry[];
}

/** Euclidean norm, mean and largest magnitude of one gradient; NaN (as `null` in JSON) when it is not finite. */
export interface GradientEntry {
  /** Key of the parameter in the checkpoint, or the input's name. */
  name: string;
  norm: number;
  mean: number;
  absmax: number;
}

/** What a tensor is to its site. */
export type TensorRole = 'scan' | 'step' | 'input' | 'output' | 'local' | 'parameter';

/** `mamba/tensors`: the tensors at the current site, or of the whole run so far. */
export interface TensorsArguments {
  /** `site` (default): of the selected frame; `run`: everything computed so far. */
  scope?: 'site' | 'run';
  /** The selected stack frame; the top one when absent. */
  frameId?: number;
  /** Milliseconds that may be spent on summaries; the rest come without one (`summary: null`). */
  budget?: number;
}

export interface TensorsResponse {
  site: Site;
  /** Changes with every stop; a view drops answers of an older stop. */
  stop: number;
  tensors: TensorEntry[];
  /** How many entries were left without a summary because the budget was spent. */
  leftOut: number;
}

export interface TensorEntry {
  /** Stable across stops as long as the tensor means the same thing. */
  id: string;
  name: string;
  role: TensorRole;
  site: Site;
  /** Named axes as far as known, e.g. `['B', 'D', 'L']`. */
  axes: string[];
  summary: Summary | null;
}

/**
 * `mamba/tensorData`: a 2-D window of a tensor. `rows` and `columns` are axes; every other axis is fixed by
 * `index`. The window is reduced on the target to at most `maxRows` x `maxColumns` cells.
 */
export interface TensorDataArguments {
  id: string;
  /** Stop number of the `mamba/tensors` reply that named the tensor; a stale one is refused. */
  stop?: number;
  /** Axis drawn downwards; the second last by default. Negative counts from the end. */
  rowAxis?: number;
  /** Axis drawn to the right; the last by default. */
  columnAxis?: number;
  /** One index per axis; entries of the two drawn axes are ignored. Zeros by default. */
  index?: number[];
  rowStart?: number;
  rowCount?: number;
  columnStart?: number;
  columnCount?: number;
  /** At most 2048 each. */
  maxRows?: number;
  maxColumns?: number;
}

export interface TensorDataResponse {
  id: string;
  stop: number;
  shape: number[];
  axes: string[];
  rowAxis: number;
  columnAxis: number;
  index: number[];
  /** The window in elements of the tensor, after clipping. */
  rowStart: number;
  rowCount: number;
  columnStart: number;
  columnCount: number;
  /** Cells in the reply. One cell covers `rowCount / rows` x `columnCount / columns` elements. */
  rows: number;
  columns: number;
  /** True when a cell covers more than one element: it then holds the one of largest magnitude. */
  reduced: boolean;
  /** Row-major little-endian float32 cells, base64. A cell that covers a NaN is NaN; else one with an Inf is Inf. */
  data: string;
  /** Statistics of the window's elements (not of the cells). */
  summary: Summary;
}

/** Custom request that restarts nothing and stops nothing: what the extension's form offers to break on. */
export const SITES_REQUEST = 'mamba/sites';

export interface SitesResponse {
  /** Boundaries that the program has, e.g. `selective_scan`, `causal_conv1d`. */
  boundaries: string[];
  /** Module paths in the order of the model. */
  modules: string[];
  layers: number;
  /** Names that a condition may use at a boundary, by boundary. */
  names: Record<string, string[]>;
}

/** `mamba/seekScan`: moves an open scan to a time step, forward or back; the client gets a `stopped` event. */
export const SEEK_SCAN_REQUEST = 'mamba/seekScan';

export interface SeekScanArguments {
  /** From 0. */
  t: number;
}
