/** One item of the status bar while a session lives: which target, and where it stands. */
import * as vscode from 'vscode';
import type { SessionStatus, SessionWatcher } from './sessions';

/** Longer texts would push others out of the bar. */
const LONGEST = 60;

export class StatusBar implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly subscription: vscode.Disposable;

  constructor(private readonly watcher: SessionWatcher) {
    this.item = vscode.window.createStatusBarItem('scanpoint.status', vscode.StatusBarAlignment.Left, 20);
    this.item.name = 'Scanpoint';
    this.item.command = 'scanpoint.tensors.focus';
    this.subscription = watcher.onDidChange(() => this.update());
  }

  private update(): void {
    const status = this.watcher.current;
    if (status) this.show(status);
    else this.item.hide();
  }

  private show(status: SessionStatus): void {
    const place = placeOf(status);
    const icon = status.activity || status.state === 'running' ? '$(sync~spin)' : '$(debug-pause)';
    this.item.text = `${icon} ${status.session.name}: ${shorten(place)}`;
    this.item.tooltip = [
      status.session.name,
      status.description,
      status.text,
      status.activity,
      'Click to see the tensors',
    ]
      .filter(Boolean)
      .join('\n');
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
    this.subscription.dispose();
  }
}

function placeOf(status: SessionStatus): string {
  if (status.activity) return status.activity;
  if (status.state === 'running') return 'running';
  // The item's icon says already that it is paused.
  return status.text ?? status.description?.replace(/^Paused at /, '') ?? 'stopped';
}

function shorten(text: string): string {
  const line = text.split('\n')[0];
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}
