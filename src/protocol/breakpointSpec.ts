/**
 * What a function breakpoint's name means. The same text works in the Breakpoints view, in launch.json and in
 * the panel's form; both targets read it here.
 */

export const BOUNDARIES = ['selective_scan', 'causal_conv1d'] as const;
export type Boundary = (typeof BOUNDARIES)[number];

/** `entry`: inputs are known; `exit`: outputs too; `step`: after each time step of a scan. */
export type Phase = 'entry' | 'exit' | 'step';

/** `pass` is there when the name asks for the backward pass. */
export type BreakpointTarget =
  | { kind: 'boundary'; boundary: Boundary; phase: Phase; pass?: 'backward' }
  | { kind: 'module'; glob: string; phase: 'entry' | 'exit'; pass?: 'backward' }
  /** The gradient of parameters, once the backward pass has computed it. */
  | { kind: 'gradient'; glob: string };

/** A wrong breakpoint name, with one sentence that says what to write instead. */
export class BreakpointSpecError extends Error {}

/** Stands before the name of what is meant in the backward pass. */
const BACKWARD = 'grad:';

/**
 * Reads `selective_scan`, `selective_scan:exit`, `causal_conv1d`, `layers.*.norm:exit`, ... With `grad:` before it
 * a boundary, or a module with its phase, is meant in the backward pass; a bare `grad:PATH` is a parameter.
 */
export function parseBreakpointName(name: string): BreakpointTarget {
  const text = name.trim();
  if (!text.startsWith(BACKWARD)) return placeTarget(text);
  const rest = text.slice(BACKWARD.length);
  if (!rest.includes(':') && !BOUNDARIES.some((b) => b === rest)) return gradientTarget(rest);
  return { ...placeTarget(rest), pass: 'backward' };
}

type PlaceTarget = Exclude<BreakpointTarget, { kind: 'gradient' }>;

function placeTarget(text: string): PlaceTarget {
  const colon = text.lastIndexOf(':');
  const path = colon < 0 ? text : text.slice(0, colon);
  const phase = colon < 0 ? 'entry' : parsePhase(text.slice(colon + 1), text);
  if (!path)
    throw new BreakpointSpecError('The breakpoint has no name; write e.g. selective_scan or layers.3.mixer.');
  const boundary = BOUNDARIES.find((b) => b === path);
  if (boundary) return boundaryTarget(boundary, phase);
  if (phase === 'step')
    throw new BreakpointSpecError(`Only selective_scan has steps; "${path}" takes :entry or :exit.`);
  if (!/^[\w*?.[\]-]+$/.test(path)) {
    throw new BreakpointSpecError(
      `"${path}" is neither a boundary (${BOUNDARIES.join(', ')}) nor a module path such as layers.3.mixer or layers.*.norm.`,
    );
  }
  return { kind: 'module', glob: path, phase };
}

/** What stands between a breakpoint's name and its log message, since VS Code has no field for the latter. */
const LOG_MARK = ' | log ';

/** The text of a function breakpoint: its name, and its log message if it has one. */
export function formatBreakpointText(name: string, logMessage?: string): string {
  return logMessage ? `${name}${LOG_MARK}${logMessage}` : name;
}

/** Splits `selective_scan | log delta {delta.max()}` into name and log message. */
export function splitBreakpointText(text: string): { name: string; logMessage?: string } {
  const mark = text.indexOf(LOG_MARK);
  if (mark < 0) return { name: text };
  return { name: text.slice(0, mark), logMessage: text.slice(mark + LOG_MARK.length) };
}

function gradientTarget(glob: string): BreakpointTarget {
  if (/^[\w*?.[\]-]+$/.test(glob)) return { kind: 'gradient', glob };
  throw new BreakpointSpecError(
    `"grad:${glob}" does not name a parameter; write e.g. grad:layers.0.mixer.A_log or grad:layers.*.mixer.D.`,
  );
}

function boundaryTarget(boundary: Boundary, phase: Phase): PlaceTarget {
  if (phase === 'step' && boundary !== 'selective_scan') {
    throw new BreakpointSpecError(`Only selective_scan has steps; "${boundary}" takes :entry or :exit.`);
  }
  return { kind: 'boundary', boundary, phase };
}

function parsePhase(word: string, text: string): Phase {
  if (word === 'entry' || word === 'exit' || word === 'step') return word;
  throw new BreakpointSpecError(`":${word}" in "${text}" is not known; use :entry, :exit or :step.`);
}

/** Turns a module glob into a test: `*` and `?` stay within one part of the path, `**` crosses dots. */
export function matchGlob(glob: string): (path: string) => boolean {
  const source = glob
    .split('**')
    .map((part) =>
      part
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replace(/\*/g, '[^.]*')
        .replace(/\?/g, '[^.]'),
    )
    .join('.*');
  const pattern = new RegExp(`^${source}$`);
  return (path) => pattern.test(path);
}

/** A hit condition: `5` stops at the 5th hit only, `>= 5` from the 5th on, `% 10` at every 10th. */
export type HitCondition = (hit: number) => boolean;

export function parseHitCondition(text: string): HitCondition {
  const match = /^\s*(==|=|>=|>|<=|<|%)?\s*(\d+)\s*$/.exec(text);
  const count = match ? Number(match[2]) : Number.NaN;
  if (!match || (match[1] === '%' && count === 0)) {
    throw new BreakpointSpecError(`The hit count "${text}" is not understood; write 5, >= 5 or % 10.`);
  }
  switch (match[1]) {
    case '>=':
      return (hit) => hit >= count;
    case '>':
      return (hit) => hit > count;
    case '<=':
      return (hit) => hit <= count;
    case '<':
      return (hit) => hit < count;
    case '%':
      return (hit) => hit % count === 0;
    default:
      return (hit) => hit === count;
  }
}

/** A log message split into text and `{expressions}`; `{{` and `}}` are literal braces. */
export type LogPart = { text: string } | { expression: string };

export function parseLogMessage(message: string): LogPart[] {
  const parts: LogPart[] = [];
  let text = '';
  for (let i = 0; i < message.length; i++) {
    const c = message[i];
    if ((c === '{' || c === '}') && message[i + 1] === c) {
      text += c;
      i++;
    } else if (c === '{') {
      const end = closingBrace(message, i);
      if (text) parts.push({ text });
      text = '';
      parts.push({ expression: message.slice(i + 1, end).trim() });
      i = end;
    } else text += c;
  }
  if (text) parts.push({ text });
  return parts;
}

function closingBrace(message: string, open: number): number {
  let depth = 0;
  for (let i = open; i < message.length; i++) {
    if (message[i] === '{') depth++;
    if (message[i] === '}' && --depth === 0) return i;
  }
  throw new BreakpointSpecError(`The log message "${message}" has a "{" without its "}".`);
}
