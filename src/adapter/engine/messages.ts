/** What the adapter and the engine's thread say to each other. */
import type { OutputCategory, Stop } from '../../../runtime/engine/debugger';
import type { Engine } from '../../../runtime/engine/engine';

/** The engine's methods that may be called from the adapter. */
export type EngineMethod = keyof Engine;

export interface Call {
  id: number;
  method: EngineMethod;
  args: unknown[];
}

/** `expected` errors are sentences for the person; others are faults of ours. */
export type Reply = { id: number; value: unknown } | { id: number; error: string; expected: boolean };

export type EngineEvent =
  | { event: 'stopped'; stop: Stop }
  | { event: 'finished' }
  | { event: 'output'; text: string; category: OutputCategory }
  | { event: 'probeFailed'; id: number; message: string }
  | { event: 'progress'; step: string };

export interface WorkerSetup {
  /** Two 32-bit cells: calls that wait, and whether a pause is asked for. */
  control: SharedArrayBuffer;
  /** Folder that holds runtime/models. */
  root: string;
}

export const WAITING = 0;
export const PAUSE = 1;
