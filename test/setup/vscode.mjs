// A real VS Code for the tests: code-server from npm, kept in the cache folder, served on loopback only.
import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { cacheFolder, ensureFilled, progress, run } from './cache.mjs';

const CODE_SERVER = '4.139.1'; // VS Code 1.139.1
const NODE = '24'; // the only major that this code-server accepts

/** Settings that keep the window free of whatever is not the extension under test. */
const QUIET_SETTINGS = {
  'workbench.startupEditor': 'none',
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'chat.commandCenter.enabled': false,
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'extensions.ignoreRecommendations': true,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'update.mode': 'none',
  'git.enabled': false,
};

/**
 * Makes sure that the cache holds a working VS Code server; the first time takes minutes.
 * @returns {Promise<import('./vscode.mjs').VSCodePaths>}
 */
export async function ensureVSCode() {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
    throw new Error(
      'The VS Code server for the tests is only made on Linux (x64 or arm64); elsewhere use VS Code itself.',
    );
  }
  const folder = join(cacheFolder(), `vscode-${CODE_SERVER}`);
  const nodePackage = join(folder, 'node_modules', `node-linux-${process.arch}`);
  const paths = {
    node: join(nodePackage, 'bin', 'node'),
    entry: join(folder, 'node_modules', 'code-server', 'out', 'node', 'entry.js'),
  };
  await ensureFilled(folder, CODE_SERVER, async () => {
    const started = Date.now();
    progress(`Building the VS Code server ${CODE_SERVER} in ${folder}; this takes some minutes, once.`);
    await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
    await npmInstall(folder, `node-linux-${process.arch}@${NODE}`);
    progress('  Node is there; now the server and its native modules ...');
    await npmInstall(folder, `code-server@${CODE_SERVER}`, {
      PATH: `${join(nodePackage, 'bin')}${delimiter}${process.env.PATH}`,
      npm_config_nodedir: nodePackage,
      npm_config_unsafe_perm: 'true',
      JOBS: 'max', // node-gyp compiles on all cores
    });
    // HOME: it writes a default configuration there even to say its version.
    const env = { ...cleanEnvironment(), HOME: folder };
    const version = await run(paths.node, [paths.entry, '--version'], { env });
    if (!version.includes(CODE_SERVER)) {
      throw new Error(
        `The VS Code server that npm installed says that it is ${version.trim()}, not ${CODE_SERVER}.`,
      );
    }
    progress(`  Ready after ${Math.round((Date.now() - started) / 1000)} s.`);
  });
  return paths;
}

/**
 * Starts a VS Code server with the extension installed, and waits until it answers.
 * @param {import('./vscode.mjs').StartOptions} options
 * @returns {Promise<import('./vscode.mjs').RunningVSCode>}
 */
export async function startVSCode(options) {
  const { node, entry } = await ensureVSCode();
  const temporary = options.profile === undefined;
  // Short on purpose: a Unix socket lies in the user data folder, and its path may have about 100 characters.
  const base = temporary ? await mkdtemp(join(tmpdir(), 'sp-')) : resolve(options.profile);
  const userDataDir = join(base, 'data');
  const extensionsDir = join(base, 'extensions');
  const home = temporary ? join(base, 'home') : (process.env.HOME ?? base);
  const removeFolder = () => {
    if (temporary && !options.keep) {
      rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
  };
  try {
    const port = options.port ?? (await freePort());
    const config = join(base, 'config.yaml');
    await mkdir(join(userDataDir, 'User'), { recursive: true });
    await mkdir(extensionsDir, { recursive: true });
    await mkdir(home, { recursive: true });
    await writeFile(config, `bind-addr: 127.0.0.1:${port}\nauth: none\ncert: false\n`);
    await writeSettings(join(userDataDir, 'User', 'settings.json'), options.userSettings, temporary);

    const env = { ...cleanEnvironment(), HOME: home };
    if (temporary) {
      env.TMPDIR = join(base, 'tmp'); // its sockets and logs go away with the rest
      env.EXTENSIONS_GALLERY = '{}'; // no marketplace: a test needs no network
      await mkdir(env.TMPDIR);
    }
    Object.assign(env, options.env);
    const folders = ['--config', config, '--user-data-dir', userDataDir, '--extensions-dir', extensionsDir];
    if (options.extension !== undefined) {
      const vsix = resolve(options.extension);
      if (!existsSync(vsix)) {
        throw new Error(`There is no extension package at ${vsix}; build it first (npm run package).`);
      }
      await run(node, [entry, ...folders, '--force', '--install-extension', vsix], { env });
    }
    const server = await startServer(node, [entry, ...folders, ...SERVER_FLAGS], env, port, removeFolder);
    const folder = encodeURIComponent(resolve(options.workspace)).replaceAll('%2F', '/');
    return {
      url: `http://127.0.0.1:${port}/?folder=${folder}`,
      port,
      userDataDir,
      extensionsDir,
      home,
      log: server.log,
      ended: server.ended,
      stop: async () => {
        await server.stop();
        removeFolder();
      },
    };
  } catch (error) {
    removeFolder();
    throw error;
  }
}

const SERVER_FLAGS = [
  '--disable-telemetry',
  '--disable-update-check',
  '--disable-workspace-trust',
  '--disable-getting-started-override',
];

async function startServer(node, args, env, port, removeFolder) {
  // A process group of its own, so that stop() also ends the extension hosts and adapters under it.
  const child = spawn(node, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let log = '';
  const collect = (text) => {
    log = (log + text).slice(-200_000);
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  let running = true;
  const ended = new Promise((settle) => {
    child.once('error', (error) => collect(String(error))).once('close', () => settle());
    child.once('exit', () => settle());
  }).then(() => {
    running = false;
  });
  const signalGroup = (signal) => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // the whole group has ended
    }
  };
  const onExit = () => {
    signalGroup('SIGKILL'); // whoever forgot stop(), or failed before it
    removeFolder();
  };
  process.once('exit', onExit);
  const stop = async () => {
    if (running) {
      child.kill('SIGTERM');
      await Promise.race([ended, sleep(5_000, undefined, { ref: false })]);
    }
    signalGroup('SIGKILL');
    await ended;
    process.off('exit', onExit);
  };

  for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
    if (!running || Date.now() > deadline) {
      const what = running ? 'does not answer' : 'ended at once';
      await stop();
      throw new Error(`The VS Code server ${what}:\n${log.slice(-3_000)}`);
    }
    if (await answers(`http://127.0.0.1:${port}/`)) {
      return { log: () => log, ended, stop };
    }
  }
}

async function answers(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}

/** @returns {Promise<number>} a port that nobody listens on, on the loopback interface */
export function freePort() {
  return new Promise((settle, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => settle(port));
    });
  });
}

async function writeSettings(file, userSettings, replace) {
  if (!replace && existsSync(file)) {
    return; // a kept profile holds what the person has chosen
  }
  await writeFile(file, JSON.stringify({ ...QUIET_SETTINGS, ...userSettings }, undefined, 2));
}

/** Our environment without what would steer the server: its own variables, and those of a VS Code around us. */
function cleanEnvironment() {
  const steering =
    /^(VSCODE_|CODE_SERVER_|CS_|XDG_|npm_|(PORT|PASSWORD|HASHED_PASSWORD|LOG_LEVEL|NODE_OPTIONS|ELECTRON_RUN_AS_NODE)$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !steering.test(name)));
}

async function npmInstall(folder, what, env = {}) {
  const { NODE_OPTIONS: _options, ...inherited } = process.env; // a registry or proxy may be set there
  await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', what], {
    cwd: folder,
    env: { ...inherited, ...env },
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(`${JSON.stringify(await ensureVSCode())}\n`);
}
