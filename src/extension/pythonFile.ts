import { basename } from 'node:path';
import * as vscode from 'vscode';

/** The saved Python file in the active editor, if it is one. */
export function activePythonFile(): vscode.Uri | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document?.uri.scheme === 'file' && document.languageId === 'python' ? document.uri : undefined;
}

/** A configuration that runs a Python file and stops at each selective scan. */
export function pythonFileConfiguration(file: vscode.Uri): vscode.DebugConfiguration {
  return {
    type: 'mamba',
    request: 'launch',
    name: `Scanpoint: ${basename(file.fsPath)} with scan breakpoints`,
    program: file.fsPath,
    console: 'integratedTerminal',
    breakpoints: [{ name: 'selective_scan' }],
  };
}
