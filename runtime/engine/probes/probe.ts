import type { Phase } from '../../../src/protocol/breakpointSpec';
import {
  BreakpointSpecError,
  type BreakpointTarget,
  type HitCondition,
  type LogPart,
  parseHitCondition,
  parseLogMessage,
} from '../../../src/protocol/breakpointSpec';
import type { Pass } from '../../../src/protocol/site';
import { checkNames, type Expression, ExpressionError, parseExpression } from '../../expression';
import type { Program } from '../../program/program';

/** What the adapter asks to stop at. */
export interface ProbeSpec {
  id: number;
  target: BreakpointTarget | LineTarget;
  condition?: string;
  hitCondition?: string;
  logMessage?: string;
}

export interface LineTarget {
  kind: 'line';
  /** e.g. `runtime/models/mixer.ts`. */
  source: string;
  line: number;
}

/** The passes that a boundary or a module is watched in: the forward one, unless the name or the condition asks. */
export function passesOf({ target, condition }: ProbeSpec): readonly Pass[] {
  if ('pass' in target) return ['backward'];
  return condition?.trim() && asksForPass(parseCondition(condition)) ? ['forward', 'backward'] : ['forward'];
}

export function asksForPass(condition: Expression): boolean {
  return condition.names().has('pass_');
}

/** Reads a condition; who writes `pass` is told the word for it. Throws an `ExpressionError`. */
function parseCondition(text: string): Expression {
  try {
    return parseExpression(text);
  } catch (error) {
    if (!(error instanceof ExpressionError) || !/^Column \d+: "pass" /.test(error.message)) throw error;
    const message = '"pass" is a statement of Python; write pass_ == "backward", or grad: before the name.';
    throw new ExpressionError(message, error.column, 'pass_');
  }
}

/** The error of what needs a backward pass in a run that has none. */
export function noBackwardPass(): BreakpointSpecError {
  return new BreakpointSpecError(
    'This run has no backward pass; set "backward" to true in the launch configuration.',
  );
}

/** What became of a probe: where it lies, or why it will never stop. */
export interface ProbeResult {
  id: number;
  verified: boolean;
  message?: string;
  /** For lines: where it really lies. */
  line?: number;
}

/** A moment of the program that a probe watches. */
export interface Location {
  event: number;
  phase: Phase | 'before';
}

/** Where one kind of breakpoint stops. Throws a `BreakpointSpecError` when the program has no such place. */
export interface Locator {
  locate(program: Program): Location[];
  /** Names that a condition may use there, beside the plain words. */
  names(program: Program): string[];
  /** For lines: the line that was found. */
  readonly line?: number;
}

export const PLAIN_NAMES = ['layer', 'direction', 'module', 'op', 't', 'pass_', 'step', 'hit'];

/** A breakpoint in force: where it lies, when it holds, how often it has. */
export class Probe {
  readonly condition?: Expression;
  readonly logParts?: readonly LogPart[];
  /** How many times the condition has held up to the current moment. */
  hits = 0;
  private readonly hitCondition: HitCondition = () => true;
  private readonly expressions = new Map<string, Expression>();

  /** Throws a `BreakpointSpecError` or an `ExpressionError` with the reason why it cannot be set. */
  constructor(
    readonly spec: ProbeSpec,
    readonly locations: readonly Location[],
    names: readonly string[],
  ) {
    const known = [...PLAIN_NAMES, ...names];
    if (spec.condition?.trim()) {
      this.condition = parseCondition(spec.condition);
      checkNames(this.condition, known);
    }
    if (spec.hitCondition?.trim()) this.hitCondition = parseHitCondition(spec.hitCondition);
    if (spec.logMessage) {
      this.logParts = parseLogMessage(spec.logMessage);
      for (const part of this.logParts) {
        if (!('expression' in part)) continue;
        const expression = parseExpression(part.expression);
        checkNames(expression, known);
        this.expressions.set(part.expression, expression);
      }
    }
  }

  expression(text: string): Expression {
    return this.expressions.get(text)!;
  }

  /** Whether the hit number `hits` is one to stop or to log at. */
  counts(): boolean {
    return this.hitCondition(this.hits);
  }
}

/** The one sentence of why a probe cannot be set; other errors are faults of ours and pass through. */
export function reasonOf(error: unknown): string {
  if (error instanceof BreakpointSpecError || error instanceof ExpressionError) return error.message;
  throw error;
}
