/** Activation: wiring only. */
import * as vscode from 'vscode';
import { AdapterFactory } from './adapterFactory';
import { registerCommands } from './commands';
import { ConfigurationProvider, DynamicConfigurations } from './configuration';
import { answerQuestions } from './questions';
import { registerRequestCommands } from './requestCommands';
import { SessionWatcher } from './sessions';
import { SourceFeatures } from './sourceFeatures';
import { StatusBar } from './statusBar';
import { TensorsClient } from './tensorsClient';
import { TensorsPanel } from './tensorsPanel';
import { showTraces } from './traceOutput';

export function activate(context: vscode.ExtensionContext): void {
  const { extensionUri } = context;
  const examples = vscode.Uri.joinPath(extensionUri, 'examples');
  const log = vscode.window.createOutputChannel('Scanpoint', { log: true });
  const watcher = new SessionWatcher(log);
  const client = new TensorsClient();
  const { registerDebugConfigurationProvider, registerDebugAdapterDescriptorFactory } = vscode.debug;
  context.subscriptions.push(
    log,
    watcher,
    registerDebugAdapterDescriptorFactory(
      'mamba',
      new AdapterFactory(extensionUri, context.globalStorageUri),
    ),
    registerDebugConfigurationProvider('mamba', new ConfigurationProvider(examples)),
    registerDebugConfigurationProvider(
      'mamba',
      new DynamicConfigurations(examples),
      vscode.DebugConfigurationProviderTriggerKind.Dynamic,
    ),
    answerQuestions(),
    showTraces(),
    registerRequestCommands(watcher),
    new TensorsPanel(extensionUri, watcher, client),
    new StatusBar(watcher),
    new SourceFeatures(watcher, client),
    registerCommands(examples, watcher),
  );
}

export function deactivate(): void {
  // Everything is in the context's subscriptions.
}
