/** What a hover in a model source evaluates: the name under the pointer with what leads to it. */
import * as vscode from 'vscode';
import { dottedNameAt } from './sourceNames';

export class HoverExpressions implements vscode.EvaluatableExpressionProvider {
  provideEvaluatableExpression(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): vscode.EvaluatableExpression | undefined {
    const name = dottedNameAt(document.lineAt(position.line).text, position.character);
    if (!name) return undefined;
    return new vscode.EvaluatableExpression(
      new vscode.Range(position.line, name.start, position.line, name.end),
    );
  }
}
