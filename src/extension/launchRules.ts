/** What a launch configuration must and may say. No vscode; the messages are what the person reads. */
import {
  BreakpointSpecError,
  parseBreakpointName,
  parseHitCondition,
  parseLogMessage,
} from '../protocol/breakpointSpec';
import type { LaunchBreakpoint } from '../protocol/launch';
import { isPyTorchStart, LaunchArgumentError, readPyTorchStart } from '../protocol/pytorchLaunch';

/** A configuration as it stands in launch.json: nothing in it can be trusted yet. */
export type RawConfiguration = Record<string, unknown>;

/** One sentence about the first thing that is wrong, or nothing. */
export function checkConfiguration(config: RawConfiguration): string | undefined {
  if (config.ssh !== undefined)
    return 'Debugging on another host ("ssh") is not supported yet by this version of Scanpoint; leave it out.';
  if (config.model !== undefined && isPyTorchStart({ ...config, model: undefined }))
    return 'The launch configuration has a "model" and a Python program; keep one of them.';
  if (config.request === 'attach' || isPyTorchStart(config))
    return pyTorchProblem(config) ?? checkBreakpoints(config.breakpoints);
  if (config.model === undefined || config.model === '') {
    return 'The launch configuration says neither "model" nor "program"; give "program": your Python script, or "model": a JSON file or a published Vim name.';
  }
  return checkTypes(config) ?? checkBreakpoints(config.breakpoints);
}

function pyTorchProblem(config: RawConfiguration): string | undefined {
  try {
    readPyTorchStart(config.request === 'attach' ? 'attach' : 'launch', config);
    return undefined;
  } catch (error) {
    if (error instanceof LaunchArgumentError) return error.message;
    throw error;
  }
}

function checkTypes(config: RawConfiguration): string | undefined {
  const { model } = config;
  if (typeof model !== 'string' && !isRecord(model)) {
    return '"model" has to be a JSON file, a published name, or an object with the constructor\'s arguments.';
  }
  for (const key of ['checkpoint', 'input']) {
    if (config[key] !== undefined && typeof config[key] !== 'string')
      return `"${key}" has to be the path of a file.`;
  }
  if (config.backward !== undefined && typeof config.backward !== 'boolean')
    return '"backward" has to be true or false.';
  if (config.loss !== undefined) {
    const problem = lossProblem(config.loss);
    if (problem) return problem;
  }
  if (config.text !== undefined && typeof config.text !== 'string') return '"text" has to be a text.';
  for (const key of ['label', 'seed']) {
    const value = config[key];
    if (value !== undefined && !(Number.isInteger(value) && (value as number) >= 0)) {
      return `"${key}" has to be a whole number from 0 up, not ${JSON.stringify(value)}.`;
    }
  }
  return undefined;
}

/** What can be told of a loss before the model is known. */
function lossProblem(loss: unknown): string | undefined {
  if (typeof loss !== 'string') return '"loss" has to be an expression, e.g. "logits[0, 3]".';
  if (/\blogits\b/.test(loss)) return undefined;
  return '"loss" has to use logits, e.g. "logits[0, 3]" or "logits.mean()".';
}

function checkBreakpoints(breakpoints: unknown): string | undefined {
  if (breakpoints === undefined) return undefined;
  if (!Array.isArray(breakpoints)) return '"breakpoints" has to be a list, e.g. ["selective_scan"].';
  for (const [i, item] of breakpoints.entries()) {
    const problem = checkBreakpoint(item);
    if (problem) return `Breakpoint ${i + 1} of the launch configuration: ${problem}`;
  }
  return undefined;
}

function checkBreakpoint(item: unknown): string | undefined {
  const breakpoint = typeof item === 'string' ? { name: item } : item;
  if (!isRecord(breakpoint) || typeof breakpoint.name !== 'string')
    return 'it needs a "name", e.g. "selective_scan".';
  try {
    parseBreakpointName(breakpoint.name);
    if (typeof breakpoint.hitCondition === 'string') parseHitCondition(breakpoint.hitCondition);
    if (typeof breakpoint.logMessage === 'string') parseLogMessage(breakpoint.logMessage);
    return undefined;
  } catch (error) {
    if (error instanceof BreakpointSpecError) return error.message;
    throw error;
  }
}

/** Breakpoints written as plain names become objects; everything else stays as it is. */
export function normalizeConfiguration<C extends RawConfiguration>(config: C): C {
  if (!Array.isArray(config.breakpoints)) return config;
  const breakpoints = config.breakpoints.map((item: unknown) =>
    typeof item === 'string' ? ({ name: item } satisfies LaunchBreakpoint) : item,
  );
  return { ...config, breakpoints };
}

/** Whether `model` names a file: published names have neither an ending nor folders. */
export function isModelFile(model: string): boolean {
  return /[\\/]/.test(model) || /\.json$/i.test(model);
}

/** The attributes of a checked configuration that are paths of files. */
export function filesOf(config: RawConfiguration): { key: FileKey; path: string }[] {
  const keys = config.request === 'attach' ? [] : FILE_KEYS;
  return keys.flatMap((key) => {
    const path = config[key];
    return typeof path === 'string' && path && (key !== 'model' || isModelFile(path)) ? [{ key, path }] : [];
  });
}

const FILE_KEYS = ['model', 'checkpoint', 'input', 'program'] as const;
type FileKey = (typeof FILE_KEYS)[number];

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
