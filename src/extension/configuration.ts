/** Launch configurations: found when there are none, completed and checked before a session starts. */
import { dirname, isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import { isPyTorchStart } from '../protocol/pytorchLaunch';
import { activeModelFile, chooseTarget, configureModel, findCheckpoint } from './chooseTarget';
import { digitsExample, photographExample } from './examples';
import { findPython } from './interpreter';
import { checkConfiguration, filesOf, normalizeConfiguration } from './launchRules';
import { sessionName } from './modelFiles';
import { activePythonFile, pythonFileConfiguration } from './pythonFile';

export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(private readonly examples: vscode.Uri) {}

  /** What a new launch.json begins with: the model that is open, or names to replace. */
  async provideDebugConfigurations(folder?: vscode.WorkspaceFolder): Promise<vscode.DebugConfiguration[]> {
    const model = activeModelFile();
    const inFolder = (file: vscode.Uri) => (folder ? insideFolder(file, folder) : file.fsPath);
    const checkpoint = model ? await findCheckpoint(model) : undefined;
    const files = model
      ? { model: inFolder(model), ...(checkpoint ? { checkpoint: inFolder(checkpoint) } : {}) }
      : { model: `\${workspaceFolder}/model.json`, checkpoint: `\${workspaceFolder}/model.safetensors` };
    return [
      {
        type: 'mamba',
        request: 'launch',
        name: 'Mamba: stop at each selective scan',
        ...files,
        input: `\${workspaceFolder}/input.png`,
        breakpoints: [{ name: 'selective_scan' }],
      },
    ];
  }

  /** F5 without a configuration, and the checks that need no substituted variables. */
  async resolveDebugConfiguration(
    _folder: vscode.WorkspaceFolder | undefined,
    config: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    const chosen = isEmpty(config) ? await this.choose(config) : config;
    if (!chosen) return undefined;
    const problem = checkConfiguration(chosen);
    if (problem) return refuse(problem);
    const defaults = isPyTorch(chosen) ? {} : { stopOnEntry: false, ...engineSettings() };
    return normalizeConfiguration({ ...defaults, ...chosen });
  }

  /** Paths become absolute, and must exist: the adapter may run in another folder. */
  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    config: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    const resolved = { ...config };
    for (const { key, path } of filesOf(config)) {
      const base = folder?.uri.fsPath;
      if (!isAbsolute(path) && !base) {
        return refuse(
          `"${key}" is the relative path ${path}, but no folder is open; open one or give an absolute path.`,
        );
      }
      const absolute = isAbsolute(path) ? path : join(base ?? '', path);
      if (!(await exists(absolute))) {
        return refuse(`"${key}" of the launch configuration names ${absolute}, which does not exist.`);
      }
      resolved[key] = absolute;
    }
    return isPyTorch(config) ? this.withPython(resolved, folder) : resolved;
  }

  /** The interpreter and the folder to run in, where the configuration does not say them. */
  private async withPython(
    config: vscode.DebugConfiguration,
    folder: vscode.WorkspaceFolder | undefined,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (config.request === 'attach' && config.processId === undefined) return config;
    const python = config.python ?? (await findPython(folder?.uri));
    if (python === undefined) return undefined;
    return { ...config, python, cwd: config.cwd ?? folder?.uri.fsPath ?? folderOf(config.program) };
  }

  private async choose(config: vscode.DebugConfiguration): Promise<vscode.DebugConfiguration | undefined> {
    const model = activeModelFile();
    const file = activePythonFile();
    const chosen = await (model
      ? configureModel(model)
      : file
        ? pythonFileConfiguration(file)
        : chooseTarget(this.examples));
    // Keeps what VS Code itself puts into an empty configuration, such as `noDebug`.
    return chosen && { ...config, ...chosen };
  }
}

/** The configurations that VS Code offers beside those of launch.json. */
export class DynamicConfigurations implements vscode.DebugConfigurationProvider {
  constructor(private readonly examples: vscode.Uri) {}

  provideDebugConfigurations(): vscode.DebugConfiguration[] {
    const model = activeModelFile();
    const examples = [digitsExample(this.examples.fsPath), photographExample(this.examples.fsPath)];
    const file = activePythonFile();
    if (file) return [pythonFileConfiguration(file), ...examples];
    if (!model) return examples;
    const open = { type: 'mamba', request: 'launch', name: sessionName(model.path), model: model.fsPath };
    return [{ ...open, breakpoints: [{ name: 'selective_scan' }] }, ...examples];
  }
}

function isPyTorch(config: vscode.DebugConfiguration): boolean {
  return config.request === 'attach' || isPyTorchStart(config);
}

function folderOf(program: unknown): string | undefined {
  return typeof program === 'string' ? dirname(program) : undefined;
}

/** What the settings say of the embedded engine. */
function engineSettings(): { memoryLimit?: number; threads?: number } {
  const settings = vscode.workspace.getConfiguration('scanpoint.embedded');
  return { memoryLimit: settings.get('memoryLimit'), threads: settings.get('threads') };
}

function isEmpty(config: vscode.DebugConfiguration): boolean {
  return !config.request && !config.name && config.model === undefined && config.program === undefined;
}

function insideFolder(file: vscode.Uri, folder: vscode.WorkspaceFolder): string {
  const relative = vscode.workspace.asRelativePath(file, false);
  return file.path.startsWith(folder.uri.path) ? `\${workspaceFolder}/${relative}` : file.fsPath;
}

async function exists(path: string): Promise<boolean> {
  return vscode.workspace.fs.stat(vscode.Uri.file(path)).then(
    () => true,
    () => false,
  );
}

/** Says why no session starts and offers the place where it can be mended. */
function refuse(message: string): undefined {
  void vscode.window.showErrorMessage(message, 'Open launch.json').then((action) => {
    if (action) void vscode.commands.executeCommand('workbench.action.debug.configure');
  });
  return undefined;
}
