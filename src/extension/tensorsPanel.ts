/** The Tensors view of the side bar: follows the selected frame, and asks only while it can be seen. */
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { TensorEntry, TensorsResponse } from '../protocol/requests';
import { formatSite } from '../protocol/site';
import { nonFinite } from '../protocol/summary';
import type { FromPanel, PanelState, TensorScope, ToPanel } from '../protocol/webview';
import { pageHtml } from './panelHtml';
import { SelectedFrame } from './selectedFrame';
import type { SessionStatus, SessionWatcher } from './sessions';
import { messageOf, type TensorsClient } from './tensorsClient';

/** VS Code selects a frame shortly after a stop; waiting for it saves reading the tensors twice. */
const PATIENCE = 150;

/** Pieces of work that the panel asks for by itself; the rest waits for a click. */
const PIECES = 12;

export class TensorsPanel implements vscode.WebviewViewProvider, vscode.Disposable {
  static readonly viewId = 'scanpoint.tensors';

  private view?: vscode.WebviewView;
  private scope: TensorScope = 'site';
  /** Only the newest reading may be shown. */
  private reading = 0;
  private timer?: NodeJS.Timeout;
  /** The stop for which summaries are wanted whatever they cost. */
  private completeStop?: string;
  /** What the webview shows now; asking again for the same would only flicker. */
  private shown?: string;
  private readonly frame: SelectedFrame;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly watcher: SessionWatcher,
    private readonly client: TensorsClient,
  ) {
    this.frame = new SelectedFrame(watcher);
    this.subscriptions = [
      this.frame,
      vscode.window.registerWebviewViewProvider(TensorsPanel.viewId, this),
      watcher.onDidChange(() => this.schedule(PATIENCE)),
      this.frame.onDidChange(() => this.schedule(0)),
    ];
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    const media = vscode.Uri.joinPath(this.extensionUri, 'dist', 'webview');
    const resource = (name: string) => view.webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
    view.webview.options = { enableScripts: true, localResourceRoots: [media] };
    view.webview.html = pageHtml({
      title: 'Tensors',
      script: resource('tensors.js'),
      style: resource('tensors.css'),
      cspSource: view.webview.cspSource,
      nonce: randomBytes(18).toString('base64url'),
    });
    view.webview.onDidReceiveMessage((message: FromPanel) => this.receive(message));
    view.onDidChangeVisibility(() => view.visible && this.schedule(0));
    view.onDidDispose(() => {
      this.view = undefined;
      this.shown = undefined;
    });
  }

  private receive(message: FromPanel): void {
    switch (message.type) {
      case 'ready':
      case 'refresh':
        this.restart(message.scope, message.type === 'refresh' && message.complete === true);
        return;
      case 'data':
        void this.answerData(message);
        return;
      case 'command':
        void vscode.commands.executeCommand(`scanpoint.${message.command}`);
        return;
      case 'copy':
        void vscode.env.clipboard.writeText(message.text);
        vscode.window.setStatusBarMessage('Copied the tensor as a line', 2000);
    }
  }

  private restart(scope: TensorScope, complete: boolean): void {
    const status = this.watcher.current;
    this.scope = scope;
    this.shown = undefined;
    if (complete && status) this.completeStop = stopOf(status);
    void this.refresh();
  }

  private schedule(delay: number): void {
    if (!this.view?.visible) return;
    this.postState(this.watcher.current);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), delay);
  }

  private async refresh(): Promise<void> {
    clearTimeout(this.timer);
    if (!this.view?.visible) return;
    const status = this.watcher.current;
    const reading = ++this.reading;
    this.postState(status);
    if (status?.state === 'stopped') return this.read(status, reading);
    this.shown = undefined;
    this.describe(status ? 'running' : '', 0);
  }

  private async read(status: SessionStatus, reading: number): Promise<void> {
    const { scope } = this;
    const frameId = scope === 'site' ? this.frame.idFor(status) : undefined;
    const complete = this.completeStop === stopOf(status);
    const what = `${stopOf(status)} ${scope} ${frameId} ${complete}`;
    if (what === this.shown) return;
    this.post({ type: 'loading' });
    const isCurrent = () => reading === this.reading && this.watcher.current?.state === 'stopped';
    try {
      const response = await this.client.tensors(status, { scope, frameId }, complete);
      if (!isCurrent()) return;
      this.shown = what;
      this.show(scope, response);
      await this.complete(status, { scope, frameId }, response, isCurrent);
    } catch (error) {
      // Running on cancels what is being read; that is no failure.
      if (isCurrent()) this.post({ type: 'tensorsFailed', message: messageOf(error) });
    }
  }

  /** Adds what the time budget left out, in pieces as short as the first, so that stepping on never waits long. */
  private async complete(
    status: SessionStatus,
    args: { scope: TensorScope; frameId?: number },
    first: TensorsResponse,
    isCurrent: () => boolean,
  ): Promise<void> {
    let { leftOut } = first;
    for (let piece = 0; leftOut > 0 && piece < PIECES && isCurrent(); piece++) {
      const response = await this.client.more(status, args);
      if (!isCurrent() || response.leftOut >= leftOut) return;
      leftOut = response.leftOut;
      this.show(args.scope, response);
    }
  }

  private show(scope: TensorScope, response: TensorsResponse): void {
    this.post({ type: 'tensors', scope, response });
    this.describe(formatSite(response.site), response.tensors.filter(isBad).length);
  }

  private async answerData({ request, arguments: args }: FromPanel & { type: 'data' }): Promise<void> {
    const status = this.watcher.current;
    if (status?.state !== 'stopped') {
      const message = 'The program is running; values can be read when it stops.';
      return this.post({ type: 'failed', request, message });
    }
    try {
      this.post({ type: 'data', request, response: await this.client.data(status, args) });
    } catch (error) {
      this.post({ type: 'failed', request, message: messageOf(error) });
    }
  }

  /** The words behind the view's title, and a count of tensors with NaN or Inf on its icon. */
  private describe(description: string, bad: number): void {
    if (!this.view) return;
    this.view.description = description;
    this.view.badge = bad > 0 ? { value: bad, tooltip: `${bad} with NaN or Inf` } : undefined;
  }

  private postState(status: SessionStatus | undefined): void {
    const state: PanelState = status ? status.state : 'noSession';
    this.post({ type: 'state', state, target: status?.session.name });
  }

  private post(message: ToPanel): void {
    void this.view?.webview.postMessage(message);
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const subscription of this.subscriptions) subscription.dispose();
  }
}

function stopOf({ session, serial }: SessionStatus): string {
  return `${session.id} ${serial}`;
}

function isBad({ summary }: TensorEntry): boolean {
  return summary !== null && nonFinite(summary) > 0;
}
