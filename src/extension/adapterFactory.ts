import * as vscode from 'vscode';
import { isPyTorchStart } from '../protocol/pytorchLaunch';

/**
 * Starts the debug adapter as a process of its own, with the editor's own Node.js, so that nothing has to be
 * installed and a heavy model never blocks the extension host.
 */
export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  /** `storage` outlives the extension's versions: debugpy is installed there if a person wants it. */
  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly storage: vscode.Uri,
  ) {}

  createDebugAdapterDescriptor({ configuration }: vscode.DebugSession): vscode.DebugAdapterDescriptor {
    const adapter = vscode.Uri.joinPath(this.extensionUri, 'dist', 'adapter.js').fsPath;
    // Under the desktop editor the executable is Electron, which is Node.js only when told so.
    const args = ['--enable-source-maps', adapter, '--questions', '--storage', this.storage.fsPath];
    if (isPyTorchStart(configuration)) args.push('--pytorch');
    return new vscode.DebugAdapterExecutable(process.execPath, args, {
      env: { ELECTRON_RUN_AS_NODE: '1' },
    });
  }
}
