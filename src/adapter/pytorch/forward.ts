/**
 * Sends a request on to debugpy and gives the body of its answer; fails with debugpy's sentence, or with ours when
 * there is no process.
 */
export type Forward = <T = unknown>(command: string, args?: unknown) => Promise<T>;

/**
 * The requests that go to debugpy as they are. It never answers one that it knows of but does not do, and then
 * answers nothing else either, so nothing but these is sent.
 */
export const FORWARDED = [
  'threads',
  'pause',
  'completions',
  'source',
  'modules',
  'gotoTargets',
  'goto',
  'stepInTargets',
] as const;

const SHORT_MS = 30_000;
/** Children are read by the user's own code, which may take long. */
const LONG_MS = 120_000;

/** After how long a request counts as lost. Those that run the user's code take as long as that takes. */
const UNLIMITED = new Set([
  'launch',
  'attach',
  'configurationDone',
  'evaluate',
  'setVariable',
  'setExpression',
]);

export function deadlineOf(command: string): number | undefined {
  if (UNLIMITED.has(command)) return undefined;
  return command === 'variables' || command === 'completions' ? LONG_MS : SHORT_MS;
}
