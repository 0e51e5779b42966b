/** Messages between the extension and the Tensors panel (webview). Versioned by the shape of this file only. */
import type { TensorDataArguments, TensorDataResponse, TensorsResponse } from './requests';

export type ToPanel =
  | { type: 'state'; state: PanelState }
  | { type: 'tensors'; response: TensorsResponse }
  | { type: 'data'; request: number; response: TensorDataResponse }
  | { type: 'failed'; request: number; message: string };

/** What the panel shows when there are no tensors, or that it is waiting. */
export type PanelState = 'noSession' | 'running' | 'stopped';

export type FromPanel =
  | { type: 'ready' }
  | { type: 'refresh'; scope: 'site' | 'run' }
  | { type: 'data'; request: number; arguments: TensorDataArguments }
  | { type: 'command'; command: 'debugExample' | 'addScanBreakpoint' }
  | { type: 'copy'; text: string };
