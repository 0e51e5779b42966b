import * as vscode from 'vscode';
import { TRACE_EVENT } from '../protocol/pytorchRequests';

/** Shows the trace log of PyTorch programs in an output channel of its own, which appears with the first line. */
export function showTraces(): vscode.Disposable {
  let channel: vscode.OutputChannel | undefined;
  const subscription = vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
    if (session.type !== 'mamba' || event !== TRACE_EVENT || typeof body?.text !== 'string') return;
    if (!channel) {
      channel = vscode.window.createOutputChannel('Scanpoint Trace');
      channel.show(true);
    }
    channel.appendLine(body.text);
  });
  return vscode.Disposable.from(subscription, { dispose: () => channel?.dispose() });
}
