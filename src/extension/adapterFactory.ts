import * as vscode from 'vscode';

/**
 * Starts the debug adapter as a process of its own, with the editor's own Node.js, so that nothing has to be
 * installed and a heavy model never blocks the extension host.
 */
export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly extensionUri: vscode.Uri) {}

  createDebugAdapterDescriptor(): vscode.DebugAdapterDescriptor {
    const adapter = vscode.Uri.joinPath(this.extensionUri, 'dist', 'adapter.js').fsPath;
    // Under the desktop editor the executable is Electron, which is Node.js only when told so.
    return new vscode.DebugAdapterExecutable(process.execPath, ['--enable-source-maps', adapter], {
      env: { ELECTRON_RUN_AS_NODE: '1' },
    });
  }
}
