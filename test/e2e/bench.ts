import type { RunningVSCode } from '../setup/vscode.mjs';
import { VSCodeWindow } from './vscodeWindow';
import { makeWorkspace } from './workspace';

/** Opens a window on a fresh copy of the examples, and closes everything afterwards. */
export class Bench {
  private readonly undo: (() => unknown)[] = [];

  constructor(
    private readonly server: () => RunningVSCode,
    /** Settings of every workspace. */
    private readonly settings?: () => Record<string, unknown>,
  ) {}

  async open(...configurations: Record<string, unknown>[]): Promise<VSCodeWindow> {
    const workspace = makeWorkspace(configurations, this.settings?.());
    this.undo.push(() => workspace.remove());
    const window = await VSCodeWindow.open(
      `http://127.0.0.1:${this.server().port}/?folder=${workspace.path}`,
    );
    this.undo.push(() => window.close());
    return window;
  }

  async close(): Promise<void> {
    for (const step of this.undo.reverse()) await step();
    this.undo.length = 0;
  }
}
