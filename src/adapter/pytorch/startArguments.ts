import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { LaunchArgumentError, type PyTorchStart, readPyTorchStart } from '../../protocol/pytorchLaunch';
import { isObject } from '../arguments';
import { cannotLaunch } from '../errors';
import { parseEnvFile } from './envFile';
import { userEnvironment } from './wire';

/** Checks a configuration. Throws a `UserError` that names the argument that is wrong. */
export function readStart(request: 'launch' | 'attach', given: unknown): PyTorchStart {
  try {
    const start = readPyTorchStart(request, given);
    checkProcess(start.debugpy['processId']);
    return start;
  } catch (error) {
    if (error instanceof LaunchArgumentError) throw cannotLaunch(error.message);
    throw error;
  }
}

/** debugpy would wait for a process that does not exist. */
function checkProcess(id: unknown): void {
  if (id === undefined) return;
  try {
    process.kill(Number(id), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') throw cannotLaunch(`There is no process ${id}.`);
  }
}

/** What debugpy is asked to do: its own arguments, with defaults, the environment read, and our files hidden. */
export function debugpyArguments(
  start: PyTorchStart,
  agent: string,
  client: Record<string, unknown>,
): Record<string, unknown> {
  const rules = [...rulesOf(start.debugpy['rules'], agent), { path: join(agent, '**'), include: false }];
  if (start.request === 'attach') return { ...start.debugpy, rules };
  return {
    ...start.debugpy,
    rules,
    ...place(start),
    ...environment(start),
    ...(start.python && { python: start.python }),
    subProcess: start.debugpy['subProcess'] ?? client['supportsStartDebuggingRequest'] === true,
  };
}

/** The user's rules; a child process inherits ours too, which would pile up. */
function rulesOf(rules: unknown, agent: string): unknown[] {
  const all = Array.isArray(rules) ? rules : [];
  return all.filter((rule) => !(isObject(rule) && rule['path'] === join(agent, '**')));
}

/** The adapter of debugpy runs in a folder of ours, so the program's is said: its own one, as debugpy has it. */
function place({ debugpy }: PyTorchStart): { cwd?: unknown; program?: string } {
  const { cwd, program } = debugpy;
  if (cwd !== undefined) return {};
  if (typeof program !== 'string') return { cwd: process.cwd() };
  const path = resolve(program);
  return { cwd: dirname(path), program: path };
}

function environment({ envFile, debugpy }: PyTorchStart): { env?: unknown } {
  if (envFile === undefined) return {};
  const own = isObject(debugpy['env']) ? debugpy['env'] : {};
  try {
    return { env: { ...parseEnvFile(readFileSync(envFile, 'utf8'), userEnvironment()), ...own } };
  } catch (error) {
    throw cannotLaunch(`"envFile" cannot be read: ${(error as Error).message}`);
  }
}
