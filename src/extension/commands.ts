/** The commands of the palette and of the views. */
import * as vscode from 'vscode';
import type { RowContext } from '../protocol/webview';
import { addScanBreakpoint } from './addScanBreakpoint';
import { digitsExample } from './examples';
import type { SessionWatcher } from './sessions';

/** Registers them; disposing of the result takes them away. */
export function registerCommands(examples: vscode.Uri, watcher: SessionWatcher): vscode.Disposable {
  const register = vscode.commands.registerCommand;
  return vscode.Disposable.from(
    register('scanpoint.debugExample', () => debugExample(examples, watcher)),
    register('scanpoint.addScanBreakpoint', () => addScanBreakpoint(watcher)),
    // A command of our own, so that the editor's button keeps naming its usual key.
    register('scanpoint.stepForward', () =>
      vscode.commands.executeCommand('workbench.action.debug.stepOver'),
    ),
    register('scanpoint.copySite', (row: unknown) => copy(row, 'site')),
    register('scanpoint.copyLine', (row: unknown) => copy(row, 'line')),
  );
}

async function debugExample(examples: vscode.Uri, watcher: SessionWatcher): Promise<void> {
  // The model's arguments are worth a look; and an editor that is there already shows inline values at the first stop.
  const model = vscode.Uri.joinPath(examples, 'vim_digits.json');
  await vscode.window.showTextDocument(model, { preview: true });
  const stopped = firstStop(watcher);
  const started = await vscode.debug.startDebugging(undefined, digitsExample(examples.fsPath));
  if (!started) return stopped.dispose();
}

/** Shows the tensors once the example stands still: that is what there is to see first. */
function firstStop(watcher: SessionWatcher): vscode.Disposable {
  const subscription = watcher.onDidChange(() => {
    if (watcher.current?.state !== 'stopped') return;
    subscription.dispose();
    void vscode.commands.executeCommand('scanpoint.tensors.focus', { preserveFocus: true });
  });
  return subscription;
}

/** A row's context menu hands over what the row carries. */
async function copy(row: unknown, what: 'site' | 'line'): Promise<void> {
  const text = (row as Partial<RowContext> | undefined)?.[what];
  if (typeof text !== 'string') return;
  await vscode.env.clipboard.writeText(text);
  vscode.window.setStatusBarMessage(`Copied ${text.length > 60 ? `${text.slice(0, 59)}…` : text}`, 3000);
}
