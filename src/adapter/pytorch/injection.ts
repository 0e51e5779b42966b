import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PyTorchSettings } from '../../protocol/pytorchLaunch';
import type { AgentClient, RunPython } from './agentClient';

/** A process that is in the middle of a long call of native code cannot answer before its end. */
const START_MS = 5_000;

const DEFAULTS = {
  scanFunctions: [],
  unfuse: false,
  summaryBudgetMs: 10,
  summaryBudgetElements: 1e7,
  trace: 'off',
};

/**
 * debugpy writes the head and the body of each answer for itself, and the network holds the second back until the
 * first is acknowledged, which takes 40 ms. Without that delay everything is shown about ten times sooner.
 */
const AT_ONCE =
  '__import__("_pydevd_bundle.pydevd_constants").pydevd_constants.get_global_debugger().writer.sock.setsockopt(6, 1, 1)';

/** Lets debugpy's answers leave at once. It may be built in another way; then nothing changes. */
export function hurry(run: RunPython): void {
  run(AT_ONCE, START_MS).catch(() => {});
}

/**
 * Puts the agent into the process. When that fails plain debugging goes on, and `failed` gets the reason, once; it may
 * come after the program has begun to run.
 */
export async function inject(
  agent: AgentClient,
  folder: string,
  settings: PyTorchSettings,
  failed: (reason: string) => void,
): Promise<void> {
  const { agent: wanted, ...rest } = settings;
  if (wanted === false) return;
  if (!existsSync(join(folder, 'scanpoint_agent')))
    return failed(`its Python part is missing from ${folder}`);
  const onError = (error: unknown) => {
    agent.alive = false;
    failed(lastLine((error as Error).message));
  };
  try {
    await agent.start(folder, { ...DEFAULTS, ...rest }, START_MS, (reply) => reply.catch(onError));
    const { trace: level = 'off', traceFile: file } = rest;
    if (level !== 'off') await agent.callEarly('trace', { level, file }, (reply) => reply.catch(onError));
  } catch (error) {
    onError(error);
  }
}

/** What a Python traceback says in the end. */
function lastLine(message: string): string {
  return message.trim().split('\n').at(-1)!.trim();
}
