import type { DebugProtocol } from '@vscode/debugprotocol';
import type { EngineClient } from '../engine/client';

/** What a client asks of a container: which part of its children. */
export interface Page {
  filter?: 'indexed' | 'named';
  start: number;
  /** 0 means all. */
  count: number;
}

/** What variables are made with: the engine, and numbers for containers that stay the same across stops. */
export interface VariableContext {
  readonly engine: EngineClient;
  /** The call stack's level that a frame stands on at this stop. Throws when it is gone. */
  levelOf(frameKey: string): number;
  /** A number for a container, the same for the same key. */
  reference(container: Container): number;
}

/** Something with children in the Variables view: one class per kind. */
export interface Container {
  /** The same thing has the same key at every stop, so that an open tree stays open. */
  readonly key: string;
  children(context: VariableContext, page: Page): Promise<DebugProtocol.Variable[]>;
}
