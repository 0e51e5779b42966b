import { BreakpointSpecError, parseHitCondition, parseLogMessage } from '../../protocol/breakpointSpec';
import type { Extras } from '../breakpoints/requested';
import { UserError } from '../errors';
import type { RunPython } from './agentClient';

const CHECK_MS = 5_000;

/**
 * debugpy evaluates a condition guarded, but takes its truth value unguarded: that of an array raises and ends the
 * user's program. Inside `bool` it is guarded too. Newlines let the condition end in a comment.
 */
const asBool = (condition: string): string => `bool((\n${condition}\n))`;

/** Words of our conditions that Python and PyTorch do not have. */
const OUR_WORDS = /(?<![\w.])(?:nan|inf|nonfinite|absmax|cosine|rel)\s*\(|\.absmax\s*\(/;

/** The condition as debugpy can evaluate it; one in our words is handed to the agent in the process. */
function inPython(condition: string, hasAgent: boolean): string {
  if (!hasAgent || !OUR_WORDS.test(condition)) return asBool(condition);
  const lines = '__import__("scanpoint_agent.lines", fromlist=["lines"])';
  return `${lines}.holds(${pythonText(condition)}, locals(), globals())`;
}

/**
 * The breakpoint as debugpy shall have it. debugpy stops when the condition or the hit count holds; a person means
 * both, so with both the condition counts for itself, under `key`.
 */
export function forDebugpy<T extends Extras>(breakpoint: T, key: string, hasAgent: boolean): T {
  const condition = breakpoint.condition?.trim();
  const hits = breakpoint.hitCondition?.trim();
  if (!condition) return { ...breakpoint, condition: undefined, hitCondition: hits && explicit(hits) };
  const python = inPython(condition, hasAgent);
  if (!hits) return { ...breakpoint, condition: python, hitCondition: undefined };
  return { ...breakpoint, condition: counted(python, hits, key), hitCondition: undefined };
}

/** `5` means the fifth hit only; said so, because debuggers differ there. */
function explicit(hits: string): string {
  const [, operator = '==', count] = /^(==|=|>=|>|<=|<|%)?\s*(\d+)$/.exec(hits) ?? [];
  return `${operator === '=' ? '==' : operator} ${count}`;
}

/** Counts the hits at which the condition holds, in a dictionary that hangs on the debugger's own module. */
function counted(condition: string, hits: string, key: string): string {
  const [operator, count] = explicit(hits).split(' ');
  const holds = operator === '%' ? `n % ${count} == 0` : `n ${operator} ${count}`;
  const table = '__import__("debugpy").__dict__.setdefault("_scanpoint_hits", {})';
  const count_ = `(lambda h: h.__setitem__("${key}", h.get("${key}", 0) + 1) or h["${key}"])(${table})`;
  return `${condition} and (lambda n: ${holds})(${count_})`;
}

/** Finds breakpoints that cannot work, before they are set. */
export class ConditionCheck {
  constructor(private readonly run: RunPython) {}

  /** For each breakpoint one sentence that says what is wrong with it, or nothing. */
  async problems(breakpoints: readonly Extras[]): Promise<(string | undefined)[]> {
    const found = breakpoints.map((b) => localProblem(b));
    const open = breakpoints.map((b, i) => (found[i] ? [] : expressionsOf(b)));
    // Nearly always all are right, which one question shows.
    if ((await this.compiles(open.flat())) === undefined) return found;
    return Promise.all(open.map(async (expressions, i) => found[i] ?? this.compiles(expressions)));
  }

  /** What Python says of the first wrong expression; nothing when all compile or it cannot be asked. */
  private async compiles(expressions: readonly string[]): Promise<string | undefined> {
    if (expressions.length === 0) return undefined;
    const sources = expressions.map((e) => pythonText(asBool(e))).join(', ');
    const code = `[compile(s, "condition", "eval") for s in (${sources},)] and None`;
    try {
      await this.run(code, CHECK_MS);
      return undefined;
    } catch (error) {
      return syntaxSentence(error instanceof UserError ? error.message : '');
    }
  }
}

function localProblem({ hitCondition, logMessage }: Extras): string | undefined {
  try {
    if (hitCondition?.trim()) parseHitCondition(hitCondition);
    if (logMessage) parseLogMessage(logMessage);
    return undefined;
  } catch (error) {
    if (error instanceof BreakpointSpecError) return error.message;
    throw error;
  }
}

/** All that debugpy will evaluate at the breakpoint. */
function expressionsOf({ condition, logMessage }: Extras): string[] {
  const logged = logMessage ? parseLogMessage(logMessage) : [];
  const inLog = logged.flatMap((part) => ('expression' in part ? [part.expression] : []));
  return condition?.trim() ? [condition.trim(), ...inLog] : inLog;
}

/** A Python string literal in ASCII. */
function pythonText(text: string): string {
  return JSON.stringify(text).replace(/[\ud800-\udbff][\udc00-\udfff]|[\u007f-\uffff]/g, (c) => {
    const code = c.codePointAt(0)!;
    return code > 0xffff
      ? `\\U${code.toString(16).padStart(8, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** Python's word on a syntax error, out of a traceback. Undefined when it was about something else. */
function syntaxSentence(traceback: string): string | undefined {
  const line = traceback
    .split('\n')
    .findLast((l) => /^\s*(\w*SyntaxError|IndentationError|ValueError): /.test(l));
  const reason = line
    ?.trim()
    .replace(/^\w+: /, '')
    .replace(/ ?\(condition, line \d+\)/, '');
  return reason && `This is no Python expression: ${reason}.`;
}
