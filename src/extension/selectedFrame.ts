/** The stack frame that the person looks at, and only while it belongs to the current stop. */
import * as vscode from 'vscode';
import type { SessionStatus, SessionWatcher } from './sessions';

export class SelectedFrame implements vscode.Disposable {
  private selected?: { session: string; frame: number; serial: number };
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscription: vscode.Disposable;

  readonly onDidChange = this.changed.event;

  constructor(watcher: SessionWatcher) {
    this.subscription = vscode.debug.onDidChangeActiveStackItem((item) => {
      const status = item && watcher.of(item.session);
      if (!status || !item || !('frameId' in item)) return;
      this.selected = { session: item.session.id, frame: item.frameId, serial: status.serial };
      this.changed.fire();
    });
  }

  /** Undefined stands for the top frame: nothing was selected at this stop yet. */
  idFor(status: SessionStatus): number | undefined {
    const { selected } = this;
    return selected?.session === status.session.id && selected.serial === status.serial
      ? selected.frame
      : undefined;
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }
}
