/** Messages between the extension and the Tensors panel (webview). Versioned by the shape of this file only. */
import type { TensorDataArguments, TensorDataResponse, TensorsResponse } from './requests';

/** The tensors of the selected frame, or of everything that ran so far. */
export type TensorScope = 'site' | 'run';

/** What the panel shows when there are no tensors, or that it is waiting. */
export type PanelState = 'noSession' | 'running' | 'stopped';

export type ToPanel =
  /** `target` is the session's name, absent without one. */
  | { type: 'state'; state: PanelState; target?: string }
  /** A list is being fetched; `tensors` or `tensorsFailed` ends it. */
  | { type: 'loading' }
  | { type: 'tensors'; scope: TensorScope; response: TensorsResponse }
  | { type: 'tensorsFailed'; message: string }
  | { type: 'data'; request: number; response: TensorDataResponse }
  | { type: 'failed'; request: number; message: string };

export type FromPanel =
  | { type: 'ready'; scope: TensorScope }
  /** `complete` asks for the summaries that the time budget had left out. */
  | { type: 'refresh'; scope: TensorScope; complete?: boolean }
  | { type: 'data'; request: number; arguments: TensorDataArguments }
  | { type: 'command'; command: PanelCommand }
  | { type: 'copy'; text: string };

/** The commands that the panel's empty states offer. */
export type PanelCommand = 'debugExample' | 'addScanBreakpoint';

/** `data-vscode-context` of a row: what a command of the row's context menu gets. */
export interface RowContext {
  webviewSection: 'tensor';
  preventDefaultContextMenuItems: true;
  name: string;
  /** Text form of the tensor's site. */
  site: string;
  /** The tensor's one-line form. */
  line: string;
}
