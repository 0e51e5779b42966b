/** Commands for a program of the person's own in PyTorch. */
import * as vscode from 'vscode';
import { TRACE_LEVELS, type TraceLevel } from '../protocol/pytorchLaunch';
import { FIND_ORIGIN_REQUEST, TRACE_REQUEST } from '../protocol/pytorchRequests';
import type { SessionWatcher } from './sessions';

export function registerPyTorchCommands(watcher: SessionWatcher): vscode.Disposable {
  const register = vscode.commands.registerCommand;
  return vscode.Disposable.from(
    register('scanpoint.findOrigin', () => ask(watcher, FIND_ORIGIN_REQUEST, {})),
    register('scanpoint.setTrace', () => setTrace(watcher)),
  );
}

const ABOUT: Record<TraceLevel, string> = {
  off: 'Nothing is written',
  boundaries: 'A line for each selective scan and causal convolution',
  modules: 'A line for each module as well',
  ops: 'A line for each op of PyTorch: slow',
};

async function setTrace(watcher: SessionWatcher): Promise<void> {
  const items = TRACE_LEVELS.map((level) => ({ label: level, detail: ABOUT[level] }));
  const picked = await vscode.window.showQuickPick(items, {
    title: 'Scanpoint',
    placeHolder: 'What shall the trace log tell?',
    matchOnDetail: true,
  });
  if (picked) await ask(watcher, TRACE_REQUEST, { level: picked.label });
}

async function ask(watcher: SessionWatcher, request: string, args: object): Promise<void> {
  const session = watcher.current?.session;
  if (!session) {
    void vscode.window.showInformationMessage(
      'This needs a debug session of a PyTorch program; start one with F5.',
    );
    return;
  }
  try {
    const answer = (await session.customRequest(request, args)) as { text?: string } | undefined;
    if (answer?.text) void vscode.window.showInformationMessage(answer.text);
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}
