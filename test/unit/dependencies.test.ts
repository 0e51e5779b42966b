import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Which folders the code of a folder may import from, beside its own. */
const ALLOWED: Record<string, readonly string[]> = {
  'src/protocol': [],
  'src/extension': ['src/protocol'],
  webview: ['src/protocol'],
  'src/adapter': ['src/protocol', 'runtime', 'src/remote', 'src/doctor'],
  'src/cli': ['src/protocol', 'runtime'],
  'src/remote': ['src/protocol'],
  'src/doctor': ['src/protocol'],
  runtime: ['src/protocol'],
};

/** The same within the runtime. */
const RUNTIME: Record<string, readonly string[]> = {
  tensor: [],
  kernels: ['tensor'],
  expression: ['tensor', 'kernels'],
  checkpoint: ['tensor'],
  image: ['tensor', 'checkpoint'],
  program: ['tensor', 'kernels'],
  models: ['tensor', 'kernels', 'program'],
  text: ['tensor', 'kernels', 'checkpoint', 'image', 'models'],
  engine: ['tensor', 'kernels', 'expression', 'checkpoint', 'image', 'program', 'models', 'text'],
};

/** Packages that bind code to a host, and the only folder that may use them. */
const ONLY_IN: Record<string, string> = {
  vscode: 'src/extension',
  '@vscode/debugadapter': 'src/adapter',
  '@vscode/webview-ui-toolkit': 'webview/ui',
};

interface Import {
  file: string;
  target: string;
}

function importsOf(folder: string): Import[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((f) => /\.tsx?$/.test(f));
  return files.flatMap((f) => {
    const file = join(folder, f);
    const text = readFileSync(file, 'utf8');
    const targets = [...text.matchAll(/(?:from|import|import\()\s*'([^']+)'/g)].map((m) => m[1]);
    return targets.map((t) => ({ file, target: t.startsWith('.') ? normalize(join(dirname(file), t)) : t }));
  });
}

const all = ['src', 'runtime', 'webview'].flatMap(importsOf);
const within = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
const local = (i: Import) =>
  within(i.target, 'src') || within(i.target, 'runtime') || within(i.target, 'webview');

describe('dependencies point one way', () => {
  it.each(Object.keys(ALLOWED))('%s', (folder) => {
    const wrong = all
      .filter((i) => within(i.file, folder) && local(i) && !within(i.target, folder))
      .filter((i) => !ALLOWED[folder].some((allowed) => within(i.target, allowed)));
    expect(wrong).toEqual([]);
  });

  it.each(Object.keys(RUNTIME))('runtime/%s', (folder) => {
    const wrong = all
      .filter(
        (i) =>
          within(i.file, `runtime/${folder}`) &&
          within(i.target, 'runtime') &&
          !within(i.target, `runtime/${folder}`),
      )
      .filter((i) => !RUNTIME[folder].some((allowed) => within(i.target, `runtime/${allowed}`)));
    expect(wrong).toEqual([]);
  });

  it.each(Object.entries(ONLY_IN))('%s is used only in %s', (name, folder) => {
    const wrong = all.filter(
      (i) => (i.target === name || i.target.startsWith(`${name}/`)) && !within(i.file, folder),
    );
    expect(wrong).toEqual([]);
  });

  it('looks at every folder of the code', () => {
    const roots = new Set(
      all.map((i) =>
        i.file.startsWith('src/') ? i.file.split('/').slice(0, 2).join('/') : i.file.split('/')[0],
      ),
    );
    for (const root of roots) expect(Object.keys(ALLOWED)).toContain(root);
  });
});
