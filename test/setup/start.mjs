// What `npm start` runs: opens examples/ in a VS Code that has the packaged extension.
// Takes the path of the .vsix; the one in the repository's root when left out.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, progress, run } from './cache.mjs';
import { startVSCode } from './vscode.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const examples = join(root, 'examples');
const vsix = resolve(process.argv[2] ?? join(root, 'scanpoint.vsix'));

try {
  if (!existsSync(vsix)) {
    throw new Error(`There is no extension package at ${vsix}. Make it first: npm run package`);
  }
  if (await hasDesktopVSCode()) {
    await code('--install-extension', vsix, '--force');
    await code(examples);
    console.log(`Scanpoint is installed in VS Code, which opens ${examples}`);
  } else {
    await serve();
  }
} catch (error) {
  progress(error.message);
  process.exitCode = 1;
}

/** Serves VS Code to a browser until Ctrl+C, with a profile of its own that keeps the person's settings. */
async function serve() {
  progress(
    'VS Code (`code`) is not on PATH, so Scanpoint starts a VS Code server of its own for your browser.',
  );
  const vscode = await startVSCode({
    workspace: examples,
    extension: vsix,
    profile: join(cacheFolder(), 'profile'),
  });
  const stop = () => void vscode.stop();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  console.log(`Scanpoint is open at ${vscode.url}`);
  progress('Press Ctrl+C to end it.');
  await vscode.ended;
}

async function hasDesktopVSCode() {
  return code('--version').then(
    () => true,
    () => false,
  );
}

function code(...args) {
  // On Windows `code` is a .cmd file, which only a shell can start; it takes the quotes off again.
  const windows = process.platform === 'win32';
  return run('code', windows ? args.map((arg) => `"${arg}"`) : args, { shell: windows });
}
