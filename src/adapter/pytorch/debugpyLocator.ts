import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cannotLaunch } from '../errors';
import type { Questions } from './questions';
import { userEnvironment } from './wire';

const OLDEST = [1, 6];
const INSTALL = 'Install';

/** Says what is wrong with the debugpy that answered, in words that complete "debugpy ...". */
export function tooOld(version: string | undefined): string | undefined {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  if (!version || Number.isNaN(major + minor)) return undefined;
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return `${version} is too old, ${OLDEST.join('.')} is needed,`;
}

/** True when Python says that it has no debugpy. */
export const saysMissing = (errors: string): boolean => /No module named '?debugpy/.test(errors);

/** Where debugpy lies that we installed ourselves, one folder for each kind of Python. */
export class OwnDebugpy {
  constructor(
    /** Folder of ours that outlives the session. */
    private readonly storage: string,
    private readonly questions: Questions,
    private readonly output: (text: string) => void,
  ) {}

  /** Our folder with debugpy, if it was installed for this Python. */
  async find(python: readonly string[]): Promise<string | undefined> {
    const folder = await this.folder(python);
    return existsSync(join(folder, 'debugpy', 'adapter')) ? folder : undefined;
  }

  /**
   * Offers to install debugpy, and gives the folder that it lies in. Throws one sentence when the person does not want it, cannot
   * be asked, or pip fails. `problem` completes "debugpy ...".
   */
  async offer(python: readonly string[], problem: string): Promise<string> {
    const program = python.join(' ');
    const text = `debugpy ${problem} for ${program}. Install it into a folder of Scanpoint's own? Your environment stays as it is.`;
    const choice = await this.questions.ask(text, [INSTALL]);
    if (choice !== INSTALL)
      throw cannotLaunch(
        `debugpy ${problem} for ${program}; install it with "${program} -m pip install -U debugpy".`,
      );
    await this.install(python, await this.folder(python));
    const folder = await this.find(python);
    if (!folder) throw cannotLaunch('pip ended well, but debugpy is not where it was asked for.');
    return folder;
  }

  /** Moved into place when complete, so that a broken install is never found. */
  private async install(python: readonly string[], folder: string): Promise<void> {
    await mkdir(this.storage, { recursive: true });
    const fresh = await mkdtemp(join(this.storage, 'new-'));
    try {
      await this.pip(python, fresh);
      await rm(folder, { recursive: true, force: true });
      await rename(fresh, folder);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }

  private pip([program, ...flags]: readonly string[], target: string): Promise<void> {
    const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--target', target, 'debugpy'];
    return new Promise((resolve, reject) => {
      const child = spawn(program, [...flags, ...pip], { env: userEnvironment() });
      let errors = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => this.output(text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        errors += text;
        this.output(text);
      });
      child.once('error', (error) => reject(cannotLaunch(`pip could not be started: ${error.message}`)));
      child.once('close', (code) => {
        if (code === 0) return resolve();
        const lines = errors.trim().split('\n');
        const reason = lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? '';
        reject(cannotLaunch(`debugpy could not be installed: ${reason.trim() || `pip ended with ${code}`}`));
      });
    });
  }

  private async folder([program, ...flags]: readonly string[]): Promise<string> {
    const code =
      'import sys, sysconfig; print(sys.implementation.cache_tag, sysconfig.get_platform(), sep="-")';
    const run = promisify(execFile);
    const { stdout } = await run(program, [...flags, '-c', code], { env: userEnvironment() });
    return join(this.storage, `debugpy-${stdout.trim()}`);
  }
}

/** Our folder where the client named none. */
export function defaultStorage(): string {
  const base = process.platform === 'win32' ? process.env['LOCALAPPDATA'] : process.env['XDG_CACHE_HOME'];
  return join(base ?? join(homedir(), '.cache'), 'scanpoint', 'python');
}

/** The interpreter where the configuration names none. */
export const DEFAULT_PYTHON = [process.platform === 'win32' ? 'python' : 'python3'];
