/** Knows what every `mamba` session is doing. */
import * as vscode from 'vscode';
import { afterReply, afterRequest, type SessionState, STARTED } from './sessionState';

export interface SessionStatus extends SessionState {
  readonly session: vscode.DebugSession;
}

export class SessionWatcher implements vscode.DebugAdapterTrackerFactory, vscode.Disposable {
  private readonly statuses = new Map<string, SessionStatus>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];

  /** Fires when a session began, ended, ran on or stopped, and when another one became current. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly log: vscode.LogOutputChannel) {
    this.subscriptions = [
      vscode.debug.registerDebugAdapterTrackerFactory('mamba', this),
      vscode.debug.onDidChangeActiveDebugSession(() => this.changed.fire()),
      vscode.debug.onDidTerminateDebugSession((session) => this.forget(session)),
    ];
  }

  /** The session that views show: the selected one, else the one that began last. */
  get current(): SessionStatus | undefined {
    const active = vscode.debug.activeDebugSession;
    return (active && this.statuses.get(active.id)) ?? [...this.statuses.values()].at(-1);
  }

  of(session: vscode.DebugSession): SessionStatus | undefined {
    return this.statuses.get(session.id);
  }

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    return {
      onWillStartSession: () => this.set(session, STARTED),
      onWillReceiveMessage: (message: unknown) => {
        this.log.trace(`-> ${abridged(message)}`);
        this.update(session, (state) => afterRequest(state, message));
      },
      onDidSendMessage: (message: unknown) => {
        this.log.trace(`<- ${abridged(message)}`);
        this.update(session, (state) => afterReply(state, message));
      },
      onError: (error) => this.log.error(error),
      onExit: (code, signal) => {
        this.log.debug(`The adapter of ${session.name} ended (${code ?? signal ?? 'unknown'}).`);
        this.forget(session);
      },
    };
  }

  private update(session: vscode.DebugSession, change: (state: SessionState) => SessionState): void {
    const status = this.statuses.get(session.id);
    const next = status && change(status);
    if (next && next !== status) this.set(session, next);
  }

  private set(session: vscode.DebugSession, state: SessionState): void {
    this.statuses.set(session.id, { ...state, session });
    this.changed.fire();
  }

  private forget(session: vscode.DebugSession): void {
    if (this.statuses.delete(session.id)) this.changed.fire();
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    this.changed.dispose();
  }
}

/** Windows of tensors would flood the log. */
function abridged(message: unknown): string {
  const text = JSON.stringify(message);
  return text.length > 4000 ? `${text.slice(0, 4000)}... (${text.length} characters)` : text;
}
