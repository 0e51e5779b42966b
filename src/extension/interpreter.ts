/** Which Python runs a program: the one of the Python extension, of the workspace, or of the PATH. */
import { delimiter, join } from 'node:path';
import * as vscode from 'vscode';

/** What is used of the Python extension's public interface. */
interface PythonExtension {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): unknown;
    resolveEnvironment(path: unknown): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

/** Path of an interpreter; asks when there is none; undefined when the person turns away. */
export async function findPython(folder: vscode.Uri | undefined): Promise<string | undefined> {
  return (
    (await chosenInPythonExtension(folder)) ??
    configured(folder) ??
    (folder && (await inWorkspace(folder))) ??
    (await onPath()) ??
    (await ask())
  );
}

async function chosenInPythonExtension(folder: vscode.Uri | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>('ms-python.python');
  try {
    const { environments } = (await extension?.activate()) ?? {};
    const environment = await environments?.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
    return environment?.executable.uri?.fsPath;
  } catch {
    return undefined; // Another extension's failure is no reason not to look elsewhere.
  }
}

function configured(folder: vscode.Uri | undefined): string | undefined {
  const path = vscode.workspace.getConfiguration('python', folder).get<string>('defaultInterpreterPath');
  return path && path !== 'python' ? path : undefined;
}

const INSIDE = process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python'];

async function inWorkspace(folder: vscode.Uri): Promise<string | undefined> {
  return firstThatExists(['.venv', 'venv', 'env'].map((name) => join(folder.fsPath, name, ...INSIDE)));
}

function onPath(): Promise<string | undefined> {
  const names = process.platform === 'win32' ? ['python.exe', 'py.exe'] : ['python3', 'python'];
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return firstThatExists(names.flatMap((name) => folders.map((folder) => join(folder, name))));
}

async function firstThatExists(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const found = await vscode.workspace.fs.stat(vscode.Uri.file(path)).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return undefined;
}

async function ask(): Promise<string | undefined> {
  const choice = await vscode.window.showErrorMessage(
    'Scanpoint found no Python on this machine; choose the one that has your PyTorch.',
    'Choose...',
  );
  if (!choice) return undefined;
  const chosen = await vscode.window.showOpenDialog({ title: 'Python interpreter', openLabel: 'Use' });
  return chosen?.[0]?.fsPath;
}
