import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** A place in a model's source. Lines and columns count from 1. */
export interface SourcePlace {
  /** Path from the package's root, e.g. `runtime/models/mixer.ts`. */
  source: string;
  line: number;
  column: number;
}

/**
 * Where an op or a scope was built: for each module level, outermost first, the places within that level's
 * own functions, innermost call first. The last level is the one that holds the op.
 */
export type Trace = readonly (readonly SourcePlace[])[];

/** The line to show for an op: the innermost call on the deepest level that has one. */
export function innermost(trace: Trace): SourcePlace | undefined {
  return trace.findLast((level) => level.length > 0)?.[0];
}

/**
 * The line to show for a module level: the statement of the module's own body. The line that entered the level
 * is left out where the body is a function of its own, since it belongs to the level above.
 */
export function bodyPlace(trace: Trace, level: number): SourcePlace | undefined {
  const entered = level > 0 ? trace[level - 1]?.[0] : undefined;
  const places = trace[level] ?? [];
  return places.findLast((p) => p.source !== entered?.source || p.line !== entered.line) ?? places.at(-1);
}

const MODELS = /(?:^|\/)(runtime\/models\/[\w./-]+)$/;

/** The JavaScript call stack, outermost call first. Cheap: nothing is turned into text. */
export function captureStack(): NodeJS.CallSite[] {
  const prepare = Error.prepareStackTrace;
  const limit = Error.stackTraceLimit;
  const holder: { stack?: NodeJS.CallSite[] } = {};
  try {
    Error.stackTraceLimit = 200;
    Error.prepareStackTrace = (_, sites) => sites;
    Error.captureStackTrace(holder, captureStack);
    return (holder.stack ?? []).reverse();
  } finally {
    Error.prepareStackTrace = prepare;
    Error.stackTraceLimit = limit;
  }
}

/**
 * Splits a stack into module levels. `starts[k]` is the stack's depth when level k was entered; calls that are
 * not in runtime/models are left out.
 */
export function traceOf(stack: readonly NodeJS.CallSite[], starts: readonly number[]): Trace {
  return starts.map((from, level) =>
    stack
      .slice(from, starts[level + 1] ?? stack.length)
      .map(placeOf)
      .filter((place): place is SourcePlace => place !== undefined)
      .reverse(),
  );
}

const places = new Map<string, SourcePlace | undefined>();

function placeOf(site: NodeJS.CallSite): SourcePlace | undefined {
  const file = site.getFileName();
  const line = site.getLineNumber();
  const column = site.getColumnNumber();
  if (!file || !line || !column) return undefined;
  const key = `${file}:${line}:${column}`;
  if (!places.has(key)) places.set(key, modelPlace(file.replace(/^file:\/\//, ''), line, column));
  return places.get(key);
}

function modelPlace(file: string, line: number, column: number): SourcePlace | undefined {
  const entry = mapOf(file)?.findEntry(line - 1, column - 1);
  const original = entry && 'originalSource' in entry ? entry : undefined;
  const path = (original?.originalSource ?? file).replaceAll('\\', '/');
  const match = MODELS.exec(path);
  if (!match) return undefined;
  if (!original) return { source: match[1], line, column };
  return { source: match[1], line: original.originalLine + 1, column: original.originalColumn + 1 };
}

const maps = new Map<string, SourceMap | undefined>();

/** The source map beside a bundle; none when the source runs as it is. */
function mapOf(file: string): SourceMap | undefined {
  if (!maps.has(file)) maps.set(file, readMap(`${file}.map`));
  return maps.get(file);
}

function readMap(path: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload);
  } catch {
    return undefined;
  }
}
