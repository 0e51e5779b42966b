/** Asks what to debug when nothing says it: the examples, a model file, or a published name. */
import * as vscode from 'vscode';
import { digitsExample, type MambaConfiguration, PUBLISHED_NAMES, photographExample } from './examples';
import { checkpointBeside, INPUT_GLOB, looksLikeModel, sessionName } from './modelFiles';

type Make = () => Promise<MambaConfiguration | undefined> | MambaConfiguration;

/** A configuration of the person's choice, or nothing when they turn away. */
export async function chooseTarget(examples: vscode.Uri): Promise<MambaConfiguration | undefined> {
  const items: (vscode.QuickPickItem & { make: Make })[] = [
    {
      label: '$(play) Digits example',
      detail: 'A small trained Vim reads a handwritten 7; stops at the first selective scan',
      make: () => digitsExample(examples.fsPath),
    },
    {
      label: '$(device-camera) Photograph with Vim-tiny',
      detail: 'The published architecture at full size, with weights from a seed',
      make: () => photographExample(examples.fsPath),
    },
    {
      label: '$(file-code) Choose a model config...',
      detail: "A JSON file with the model's constructor arguments",
      make: chooseModelFile,
    },
    {
      label: '$(package) Published Vim name...',
      detail: 'Tiny, small or base, by the name of its release',
      make: choosePublishedName,
    },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: 'Scanpoint',
    placeHolder: 'Which Mamba model shall be debugged?',
    matchOnDetail: true,
  });
  return picked?.make();
}

async function chooseModelFile(): Promise<MambaConfiguration | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title: 'Model configuration',
    openLabel: 'Debug',
    filters: { 'Model configuration': ['json'] },
  });
  return chosen?.[0] && configureModel(chosen[0]);
}

async function choosePublishedName(): Promise<MambaConfiguration | undefined> {
  const picked = await vscode.window.showQuickPick(
    PUBLISHED_NAMES.map(({ name, about }) => ({ label: about, detail: name, name })),
    { title: 'Scanpoint', placeHolder: 'Which published model?', matchOnDetail: true },
  );
  if (!picked) return undefined;
  const input = await chooseInput(undefined);
  if (input === undefined) return undefined;
  return {
    type: 'mamba',
    request: 'launch',
    name: picked.label.replace(/:.*/, ''),
    model: picked.name,
    seed: 0,
    ...(input ? { input } : {}),
    breakpoints: [{ name: 'selective_scan' }],
  };
}

/** The model file in the active editor, if it is one. */
export function activeModelFile(): vscode.Uri | undefined {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.uri.scheme !== 'file' || document.languageId !== 'json') return undefined;
  return looksLikeModel(document.getText()) ? document.uri : undefined;
}

/** A configuration for a model file, with the checkpoint that lies beside it and an input of the person's choice. */
export async function configureModel(model: vscode.Uri): Promise<MambaConfiguration | undefined> {
  const checkpoint = await findCheckpoint(model);
  const input = await chooseInput(vscode.Uri.joinPath(model, '..'));
  if (input === undefined) return undefined;
  return {
    type: 'mamba',
    request: 'launch',
    name: sessionName(model.path),
    model: model.fsPath,
    ...(checkpoint ? { checkpoint: checkpoint.fsPath } : {}),
    ...(input ? { input } : {}),
    breakpoints: [{ name: 'selective_scan' }],
  };
}

/** The checkpoint that lies beside a model file, if there is one. */
export async function findCheckpoint(model: vscode.Uri): Promise<vscode.Uri | undefined> {
  const folder = vscode.Uri.joinPath(model, '..');
  const names = (await vscode.workspace.fs.readDirectory(folder)).map(([name]) => name);
  const name = checkpointBeside(model.path.replace(/^.*\//, ''), names);
  return name === undefined ? undefined : vscode.Uri.joinPath(folder, name);
}

/** Path of an input; empty for none; undefined when the person turns away. */
async function chooseInput(folder: vscode.Uri | undefined): Promise<string | undefined> {
  const found = folder ? await inputsNear(folder) : [];
  const files = found.map((uri) => ({
    label: `$(file-media) ${vscode.workspace.asRelativePath(uri, false)}`,
    path: async () => uri.fsPath as string | undefined,
  }));
  const picked = await vscode.window.showQuickPick(
    [
      ...files,
      { label: '$(folder-opened) Choose a file...', path: openInput },
      { label: '$(circle-slash) Without an input', path: async () => '' as string | undefined },
    ],
    { title: 'Scanpoint', placeHolder: 'Which image or .npy file does the model read?' },
  );
  return picked?.path();
}

async function openInput(): Promise<string | undefined> {
  const filters = { 'Images and tensors': ['png', 'jpg', 'jpeg', 'npy', 'safetensors'] };
  const chosen = await vscode.window.showOpenDialog({
    title: 'Input of the model',
    openLabel: 'Use',
    filters,
  });
  return chosen?.[0]?.fsPath;
}

async function inputsNear(folder: vscode.Uri): Promise<vscode.Uri[]> {
  const search = (glob: string) =>
    vscode.workspace.findFiles(new vscode.RelativePattern(folder, glob), null, 30);
  const [here, below] = await Promise.all([search(INPUT_GLOB), search(`*/${INPUT_GLOB}`)]);
  const paths = [...here, ...below].sort((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true }));
  return paths.slice(0, 30);
}
