import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The packaged extension, as `npm run package` makes it. */
export const VSIX = join(ROOT, 'scanpoint.vsix');

// biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code fills it in
const FOLDER = '${workspaceFolder}';

/** A launch configuration for the digits model in a workspace of `makeWorkspace`. */
export function digitLaunch(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: 'mamba',
    request: 'launch',
    name: 'Digit',
    model: `${FOLDER}/vim_digits.json`,
    checkpoint: `${FOLDER}/vim_digits.safetensors`,
    input: `${FOLDER}/digits/digit_7.png`,
    label: 7,
    ...changes,
  };
}

/** A copy of the examples that a test may change, with the given launch configurations and settings, if any. */
export function makeWorkspace(
  configurations: readonly Record<string, unknown>[],
  settings?: Record<string, unknown>,
): {
  path: string;
  remove(): void;
} {
  const path = mkdtempSync(join(tmpdir(), 'scanpoint-workspace-'));
  cpSync(join(ROOT, 'examples'), path, { recursive: true });
  rmSync(join(path, '.vscode'), { recursive: true });
  mkdirSync(join(path, '.vscode'));
  const write = (name: string, content: object) =>
    writeFileSync(join(path, '.vscode', name), JSON.stringify(content, null, 2));
  if (configurations.length > 0) write('launch.json', { version: '0.2.0', configurations });
  if (settings) write('settings.json', settings);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Where pictures of the windows go; they are looked at, not compared. */
export function picture(name: string): string {
  const folder = join(ROOT, 'out/pictures');
  mkdirSync(folder, { recursive: true });
  return join(folder, `${name}.png`);
}
