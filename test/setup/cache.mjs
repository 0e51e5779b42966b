// The cache folder that the tests share between checkouts, and what it takes to fill it safely:
// a lock, a "this is complete" mark, and a way to run a program.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A holder touches its lock this often; a lock that was not touched for `STALE` has no holder any more. */
const HEARTBEAT = 2_000;
const STALE = 20_000;

/** @returns {string} `SCANPOINT_CACHE`, or `~/.cache/scanpoint` */
export function cacheFolder() {
  return process.env.SCANPOINT_CACHE || join(homedir(), '.cache', 'scanpoint');
}

/** Writes one line for the person who waits; stdout stays free for results. @param {string} line */
export function progress(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * Makes sure that `folder` is completely filled, exactly once, however many ask at the same time.
 * A folder that an interrupted run left half done has no mark and is made again from nothing.
 * @param {string} folder
 * @param {string} version what the mark must say; another value means that the folder is out of date
 * @param {() => Promise<void>} fill fills the empty folder
 */
export async function ensureFilled(folder, version, fill) {
  const mark = join(folder, 'complete.txt');
  if ((await readText(mark)) === version) {
    return;
  }
  await withLock(`${folder}.lock`, async () => {
    if ((await readText(mark)) === version) {
      return; // someone else finished it while we waited
    }
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await fill();
    await writeFile(mark, version);
  });
}

/**
 * Runs `work` while holding the lock file. Waits for another holder; takes over from one that died.
 * @template T
 * @param {string} lockFile
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(lockFile, work) {
  const token = `${process.pid} ${randomUUID()}`;
  await mkdir(join(lockFile, '..'), { recursive: true });
  for (let told = false; !(await tryLock(lockFile, token)); ) {
    if (!told) {
      progress(`Waiting for another process that fills ${basename(lockFile, '.lock')} ...`);
      told = true;
    }
    await removeIfStale(lockFile);
    await sleep(500);
  }
  const heartbeat = setInterval(() => utimes(lockFile, new Date(), new Date()).catch(() => {}), HEARTBEAT);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if ((await readText(lockFile)) === token) {
      await rm(lockFile, { force: true });
    }
  }
}

async function tryLock(lockFile, token) {
  try {
    await writeFile(lockFile, token, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') {
      return false;
    }
    throw error;
  }
}

async function removeIfStale(lockFile) {
  const age = (info) => Date.now() - info.mtimeMs;
  const info = await stat(lockFile).catch(() => undefined);
  if (!info || age(info) < STALE) {
    return;
  }
  // Of several waiters only one wins this rename, so nobody deletes the lock of the next holder.
  const aside = `${lockFile}.${randomUUID()}`;
  const won = await rename(lockFile, aside).then(
    () => true,
    () => false,
  );
  if (won && age(await stat(aside)) < STALE) {
    await rename(aside, lockFile); // it was a new holder's after all
  } else {
    await rm(aside, { force: true });
  }
}

async function readText(file) {
  return readFile(file, 'utf8').catch(() => undefined);
}

/**
 * Runs a program to its end and gives its stdout. On failure the error carries the end of what it printed.
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<string>}
 */
export function run(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let all = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
      all += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      all += text;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) {
        resolve(stdout);
      } else {
        const end = all.trim().split('\n').slice(-15).join('\n');
        reject(new Error(`${basename(program)} ${args[0] ?? ''} ended with ${code ?? signal}:\n${end}`));
      }
    });
  });
}
