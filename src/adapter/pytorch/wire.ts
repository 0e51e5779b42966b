import { type ChildProcess, spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Endpoint } from '../../protocol/pytorchLaunch';
import { cannotLaunch } from '../errors';

/** How much of what a process writes to stderr is kept. */
const KEPT = 8192;
/** A host that answers nothing is given up after this. */
const CONNECT_MS = 10_000;

/** Bytes to and from a debugpy adapter. */
export interface Wire {
  readonly input: Readable;
  readonly output: Writable;
  /** Settles with a sentence once nothing more comes. */
  readonly ended: Promise<string>;
  /** What the other side wrote to stderr lately. */
  errors(): string;
  close(): void;
}

/** Starts a debugpy adapter that talks over its stdio. `arguments_` come after the interpreter. */
export function spawnWire(python: readonly string[], arguments_: readonly string[], cwd: string): Wire {
  const [program, ...flags] = python;
  const child = spawn(program, [...flags, ...arguments_], { cwd, env: userEnvironment() });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-KEPT);
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(startFailure(program, error)));
    // `close` comes when the last output has been read, `exit` may come before.
    child.once('close', (code, signal) => resolve(exitSentence(code, signal, errors)));
  });
  return {
    input: child.stdout,
    output: child.stdin,
    ended,
    errors: () => errors,
    close: () => end(child),
  };
}

/** Connects to an adapter that listens, e.g. that of a process that called `debugpy.listen`. */
export function connectWire({ host = '127.0.0.1', port }: Endpoint): Promise<Wire> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const fail = (reason: string) => {
      socket.destroy();
      reject(cannotLaunch(reason));
    };
    const late = () => fail(`${host}:${port} does not answer; is it the address that debugpy listens on?`);
    socket.setTimeout(CONNECT_MS, late);
    socket.once('error', (error: NodeJS.ErrnoException) => fail(refusal(host, port, error)));
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.removeAllListeners('error');
      resolve(socketWire(socket));
    });
  });
}

function socketWire(socket: Socket): Wire {
  socket.setNoDelay(true);
  socket.on('error', () => {});
  const ended = new Promise<string>((resolve) => {
    socket.once('close', () => resolve('debugpy closed the connection.'));
  });
  return { input: socket, output: socket, ended, errors: () => '', close: () => socket.destroy() };
}

/** Our environment without what makes the editor's executable a Node.js. */
export function userEnvironment(): NodeJS.ProcessEnv {
  const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env;
  return env;
}

/** It ends by itself once its input does, unless it still looks after a program that shall live on. */
function end(child: ChildProcess): void {
  child.stdin?.end();
  child.unref();
}

function startFailure(program: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return `There is no Python at "${program}"; choose one with "python".`;
  return `Python could not be started: ${error.message}`;
}

function exitSentence(code: number | null, signal: string | null, errors: string): string {
  const how = signal ? `was ended by ${signal}` : `ended with ${code}`;
  const last = errors.trim().split('\n').at(-1);
  return `debugpy ${how}${last ? `: ${last.trim()}` : '.'}`;
}

function refusal(host: string, port: number, error: NodeJS.ErrnoException): string {
  if (error.code !== 'ECONNREFUSED') return `${host}:${port} cannot be reached: ${error.message}`;
  return `Nothing listens at ${host}:${port}; start the program with "python -m debugpy --listen ${port} ...".`;
}
