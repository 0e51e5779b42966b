/** Commands that ask the program that is debugged for something of ours. */
import * as vscode from 'vscode';
import { TRACE_LEVELS, type TraceLevel } from '../protocol/pytorchLaunch';
import { FIND_ORIGIN_REQUEST, TRACE_REQUEST, type TraceArguments } from '../protocol/pytorchRequests';
import { SEEK_SCAN_REQUEST, type SeekScanArguments } from '../protocol/requests';
import type { SessionWatcher } from './sessions';

export function registerRequestCommands(watcher: SessionWatcher): vscode.Disposable {
  const register = vscode.commands.registerCommand;
  return vscode.Disposable.from(
    register('scanpoint.findOrigin', () => ask(watcher, FIND_ORIGIN_REQUEST, {})),
    register('scanpoint.setTrace', () => setTrace(watcher)),
    register('scanpoint.seekScan', () => seekScan(watcher)),
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
  if (picked) await ask(watcher, TRACE_REQUEST, { level: picked.label } satisfies TraceArguments);
}

async function seekScan(watcher: SessionWatcher): Promise<void> {
  const text = await vscode.window.showInputBox({
    title: 'Scanpoint',
    prompt: 'Move the open scan to this time step, from 0',
    validateInput: (value) =>
      /^\d+$/.test(value.trim()) ? undefined : 'A time step is a whole number from 0.',
  });
  if (text !== undefined)
    await ask(watcher, SEEK_SCAN_REQUEST, { t: Number(text) } satisfies SeekScanArguments);
}

async function ask(watcher: SessionWatcher, request: string, args: object): Promise<void> {
  const session = watcher.current?.session;
  if (!session) {
    void vscode.window.showInformationMessage('This needs a debug session; start one with F5.');
    return;
  }
  try {
    const answer = (await session.customRequest(request, args)) as { text?: string } | undefined;
    if (answer?.text) void vscode.window.showInformationMessage(answer.text);
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}
