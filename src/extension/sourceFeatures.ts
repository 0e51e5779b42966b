/** Inline values and hovers in TypeScript, only while a model is debugged: other debuggers keep their own. */
import * as vscode from 'vscode';
import { HoverExpressions } from './hover';
import { InlineValues } from './inlineValues';
import type { SessionWatcher } from './sessions';
import type { TensorsClient } from './tensorsClient';

const TYPESCRIPT: vscode.DocumentSelector = { language: 'typescript' };

export class SourceFeatures implements vscode.Disposable {
  private registered: vscode.Disposable[] = [];
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly watcher: SessionWatcher,
    private readonly client: TensorsClient,
  ) {
    this.subscription = watcher.onDidChange(() => this.follow());
  }

  private follow(): void {
    const wanted = this.watcher.current !== undefined;
    if (wanted === this.registered.length > 0) return;
    if (wanted) this.register();
    else this.withdraw();
  }

  private register(): void {
    this.registered = [
      vscode.languages.registerInlineValuesProvider(TYPESCRIPT, new InlineValues(this.watcher, this.client)),
      vscode.languages.registerEvaluatableExpressionProvider(TYPESCRIPT, new HoverExpressions()),
    ];
  }

  private withdraw(): void {
    for (const registration of this.registered) registration.dispose();
    this.registered = [];
  }

  dispose(): void {
    this.withdraw();
    this.subscription.dispose();
  }
}
