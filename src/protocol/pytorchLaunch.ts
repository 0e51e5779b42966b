/**
 * The arguments of a launch or attach configuration of type `mamba` for the PyTorch target: those of debugpy that
 * make sense for a model, and our own. Checked here, so that the extension and the adapter say the same.
 */
import { closest } from './spelling';

/** Our own arguments. They never reach debugpy, but child processes get them again. */
export interface PyTorchSettings {
  /** More functions to treat as a selective scan: dotted names or globs. */
  scanFunctions?: string[];
  /** Run the composed path instead of a fused kernel, so that the scan inside can be seen. */
  unfuse?: boolean;
  /** What summaries may cost for one reply: milliseconds, and elements of a tensor. */
  summaryBudgetMs?: number;
  summaryBudgetElements?: number;
  trace?: TraceLevel;
  /** JSON-lines file that the trace log also goes to. */
  traceFile?: string;
  /** False debugs plain Python, without our part in the process. */
  agent?: boolean;
}

export const TRACE_LEVELS = ['off', 'boundaries', 'modules', 'ops'] as const;
export type TraceLevel = (typeof TRACE_LEVELS)[number];

/** A host and port; the host is this machine when left out. */
export interface Endpoint {
  host?: string;
  port: number;
}

/** A checked configuration. */
export interface PyTorchStart {
  request: 'launch' | 'attach';
  /** The interpreter and its own arguments; absent means `python` on the PATH. */
  python?: string[];
  /** File of NAME=value lines that adds to `env`. */
  envFile?: string;
  settings: PyTorchSettings;
  /** Where the process listens already. */
  connect?: Endpoint;
  /** Everything for debugpy, as debugpy spells it. */
  debugpy: Record<string, unknown>;
}

/** A wrong argument, with one sentence that says what to write instead. */
export class LaunchArgumentError extends Error {}

type Check = { expected: string; holds(x: unknown): boolean };

const isText = (x: unknown): x is string => typeof x === 'string';
const isTexts = (x: unknown): x is string[] => Array.isArray(x) && x.every(isText);
const isObject = (x: unknown): x is Record<string, unknown> =>
  typeof x === 'object' && x !== null && !Array.isArray(x);
const isCount = (x: unknown): x is number => typeof x === 'number' && Number.isInteger(x) && x >= 0;
const isPort = (x: unknown): x is number => isCount(x) && x > 0 && x < 65536;
const isDigits = (x: unknown): boolean => typeof x === 'string' && /^\d+$/.test(x);

const text: Check = { expected: 'a text', holds: (x) => isText(x) && x !== '' };
const words: Check = { expected: 'a text or a list of texts', holds: (x) => isText(x) || isTexts(x) };
const texts: Check = { expected: 'a list of texts', holds: isTexts };
const flag: Check = { expected: 'true or false', holds: (x) => typeof x === 'boolean' };
const count: Check = { expected: 'a whole number from 0', holds: isCount };
const budget: Check = { expected: 'a number from 0', holds: (x) => typeof x === 'number' && x >= 0 };
const process: Check = {
  expected: 'the number of a process',
  holds: (x) => (isCount(x) && x > 0) || isDigits(x),
};
const variables: Check = {
  expected: 'an object whose values are texts',
  holds: (x) => isObject(x) && Object.values(x).every((v) => isText(v) || v === null),
};
const endpoint: Check = {
  expected: 'an object with a "port" and, if it is not this machine, a "host"',
  holds: (x) => isObject(x) && isPort(x['port']) && (x['host'] === undefined || isText(x['host'])),
};
const mappings: Check = {
  expected: 'a list of objects with "localRoot" and "remoteRoot"',
  holds: (x) =>
    Array.isArray(x) && x.every((m) => isObject(m) && isText(m['localRoot']) && isText(m['remoteRoot'])),
};
const objects: Check = { expected: 'a list of objects', holds: (x) => Array.isArray(x) && x.every(isObject) };
const oneOf = (...choices: readonly string[]): Check => ({
  expected: choices
    .map((c) => `"${c}"`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1'),
  holds: (x) => isText(x) && choices.includes(x),
});

const SETTINGS: Record<string, Check> = {
  scanFunctions: texts,
  unfuse: flag,
  summaryBudgetMs: budget,
  summaryBudgetElements: budget,
  trace: oneOf(...TRACE_LEVELS),
  traceFile: text,
  agent: flag,
};

const COMMON: Record<string, Check> = {
  justMyCode: flag,
  showReturnValue: flag,
  redirectOutput: flag,
  steppingResumesAllThreads: flag,
  pathMappings: mappings,
  rules: objects,
  maxExceptionStackFrames: count,
  logToFile: flag,
};

const LAUNCH: Record<string, Check> = {
  ...COMMON,
  program: text,
  module: text,
  code: words,
  args: words,
  python: words,
  pythonArgs: texts,
  cwd: text,
  env: variables,
  envFile: text,
  console: oneOf('internalConsole', 'integratedTerminal', 'externalTerminal'),
  consoleTitle: text,
  stopOnEntry: flag,
  subProcess: flag,
  sudo: flag,
  gevent: flag,
  onTerminate: oneOf('KeyboardInterrupt'),
  noDebug: flag,
};

const ATTACH: Record<string, Check> = {
  ...COMMON,
  python: words,
  connect: endpoint,
  listen: endpoint,
  processId: process,
  subProcessId: process,
  subProcess: flag,
};

/** What names the program of a launch, and the process of an attach. */
const PROGRAM_KEYS = ['program', 'module', 'code'];
const PROCESS_KEYS = ['connect', 'listen', 'processId', 'subProcessId'];

/** Whether these arguments mean the user's own Python process rather than the embedded model. */
export function isPyTorchStart(given: unknown): boolean {
  if (!isObject(given) || given['model'] !== undefined) return false;
  return [...PROGRAM_KEYS, ...PROCESS_KEYS].some((key) => given[key] !== undefined);
}

/** Checks a configuration. Throws a `LaunchArgumentError` that names the argument that is wrong. */
export function readPyTorchStart(request: 'launch' | 'attach', given: unknown): PyTorchStart {
  const all = isObject(given) ? given : {};
  const a = Object.fromEntries(
    Object.entries(all).filter(([, x]) => x !== undefined && x !== null && x !== ''),
  );
  const known = { ...(request === 'launch' ? LAUNCH : ATTACH), ...SETTINGS };
  for (const [name, check] of Object.entries(known)) {
    if (a[name] !== undefined && !check.holds(a[name])) throw wrong(request, name, check.expected);
  }
  if (request === 'launch') checkLaunch(a, known);
  else checkAttach(a);
  return split(request, a);
}

function checkLaunch(a: Record<string, unknown>, known: Record<string, Check>): void {
  const programs = PROGRAM_KEYS.filter((key) => a[key] !== undefined);
  if (programs.length > 1)
    throw new LaunchArgumentError(`The launch configuration has ${list(programs)}; keep one of them.`);
  if (programs.length === 1) return;
  const typo = Object.keys(a).find(
    (key) => !(key in known) && PROGRAM_KEYS.includes(closest(key, PROGRAM_KEYS) ?? ''),
  );
  const hint = typo ? ` Is "${typo}" meant to be "${closest(typo, PROGRAM_KEYS)}"?` : '';
  throw new LaunchArgumentError(
    `The launch configuration names nothing to run; give a "program" or a "module".${hint}`,
  );
}

function checkAttach(a: Record<string, unknown>): void {
  const processes = ['connect', 'listen', 'processId'].filter((key) => a[key] !== undefined);
  if (processes.length > 1)
    throw new LaunchArgumentError(`The attach configuration has ${list(processes)}; keep one of them.`);
  if (processes.length === 0)
    throw new LaunchArgumentError(
      'The attach configuration names no process; give "connect" with a "port", or a "processId".',
    );
  if (a['noDebug'] === true)
    throw new LaunchArgumentError('A process that runs already cannot be attached to without debugging.');
}

function split(request: 'launch' | 'attach', a: Record<string, unknown>): PyTorchStart {
  const { python, envFile, connect, ...rest } = a;
  const settings = Object.fromEntries(Object.entries(rest).filter(([key]) => key in SETTINGS));
  const ours = new Set([...Object.keys(SETTINGS), 'breakpoints']);
  const debugpy = Object.fromEntries(Object.entries(rest).filter(([key]) => !ours.has(key)));
  if (connect !== undefined) debugpy['connect'] = connect;
  return {
    request,
    python: python === undefined ? undefined : Array.isArray(python) ? python : [String(python)],
    envFile: envFile as string | undefined,
    settings: settings as PyTorchSettings,
    connect: connect as Endpoint | undefined,
    debugpy,
  };
}

function wrong(request: string, name: string, expected: string): LaunchArgumentError {
  return new LaunchArgumentError(`"${name}" in the ${request} configuration must be ${expected}.`);
}

function list(names: string[]): string {
  return names.map((name) => `"${name}"`).join(' and ');
}
