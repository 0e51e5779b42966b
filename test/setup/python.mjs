// A Python for the tests: a venv with test/python/requirements.txt, kept in the cache folder.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cacheFolder, ensureFilled, progress, run } from './cache.mjs';

const REQUIREMENTS = fileURLToPath(new URL('../python/requirements.txt', import.meta.url));

/**
 * Makes sure that a venv with these requirements lies in the cache; other requirements get another venv.
 * @param {string} [requirements] path of a requirements file
 * @returns {Promise<string>} path of the venv's python
 */
export async function ensurePython(requirements = REQUIREMENTS) {
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12);
  const folder = join(cacheFolder(), `python-${hash}`);
  const python = join(folder, 'bin', 'python');
  await ensureFilled(folder, hash, async () => {
    const started = Date.now();
    progress(`Making a Python environment in ${folder}; this takes some minutes, once.`);
    await attempt('python3', ['-m', 'venv', folder]);
    // One command for all, so that pip finds versions that fit together.
    await attempt(python, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '-r',
      requirements,
    ]);
    progress(`  Ready after ${Math.round((Date.now() - started) / 1000)} s.`);
  });
  return python;
}

/** Runs one step; what the person reads on failure is the one line in which Python or pip says why. */
async function attempt(program, args) {
  const { PYTHONHOME: _home, PYTHONPATH: _path, ...env } = process.env;
  try {
    await run(program, args, { env });
  } catch (error) {
    const lines = String(error.message).split('\n');
    const reason = lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1);
    throw new Error(
      `The Python environment could not be made (${program} ${args.join(' ')}): ${reason.trim()}`,
    );
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    process.stdout.write(`${await ensurePython(process.argv[2])}\n`);
  } catch (error) {
    progress(error.message);
    process.exitCode = 1;
  }
}
