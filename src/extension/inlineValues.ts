/** Tensor lines behind the code of a model source while it stands still. */
import * as vscode from 'vscode';
import { inlineText } from './inlineText';
import type { SessionWatcher } from './sessions';
import { assignedNames, enclosingFunction, type SourceName } from './sourceNames';
import type { TensorsClient } from './tensorsClient';

export class InlineValues implements vscode.InlineValuesProvider {
  constructor(
    private readonly watcher: SessionWatcher,
    private readonly client: TensorsClient,
  ) {}

  async provideInlineValues(
    document: vscode.TextDocument,
    viewPort: vscode.Range,
    context: vscode.InlineValueContext,
  ): Promise<vscode.InlineValue[]> {
    const session = vscode.debug.activeDebugSession;
    const status = session && this.watcher.of(session);
    if (status?.state !== 'stopped') return [];
    const tensors = await this.client
      .tensors(status, { scope: 'site', frameId: context.frameId })
      .then((response) => new Map(response.tensors.toReversed().map((entry) => [entry.name, entry])))
      .catch(() => undefined);
    if (!tensors) return [];
    const known = visibleNames(document, viewPort, context.stoppedLocation.end.line).flatMap((place) => {
      const entry = tensors.get(place.name);
      return entry ? [{ ...place, entry }] : [];
    });
    return known.map(({ name, line, start, end, entry }) => {
      const range = new vscode.Range(line, start, line, end);
      // Without a summary the editor asks for this one alone.
      if (!entry.summary) return new vscode.InlineValueEvaluatableExpression(range, name);
      const crowd = known.filter((other) => other.line === line).length;
      return new vscode.InlineValueText(range, inlineText(name, entry.summary, crowd));
    });
  }
}

/** The names that get values between the function's beginning and the stopped line, as far as they are in view. */
function visibleNames(document: vscode.TextDocument, viewPort: vscode.Range, stopped: number): SourceName[] {
  const lines = document.getText().split(/\r?\n/);
  const [first, last] = enclosingFunction(lines, stopped);
  const from = Math.max(first, viewPort.start.line);
  return assignedNames(lines, from, Math.min(last, stopped, viewPort.end.line));
}
