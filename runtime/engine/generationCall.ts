import { closest } from '../../src/protocol/spelling';
import {
  Expression,
  ExpressionError,
  evaluate,
  parseExpression,
  type Scope,
  type Value,
} from '../expression';
import type { GenerationRequest } from './generation';

/** True for a text that asks for tokens to be written: `generate(20)`. */
export function isGenerationCall(text: string): boolean {
  return /^\s*generate\s*\(/.test(text);
}

const NAMES = ['tokens', 'temperature', 'top_k', 'seed'] as const;
type Name = (typeof NAMES)[number];

const DEFAULT_TOKENS = 20;
const EXAMPLE = 'generate(20, temperature=0.8, top_k=40, seed=1)';
/** Arguments are plain numbers; the tensors of the run have no place in them. */
const NO_NAMES: Scope = { get: () => undefined, names: () => [] };

/**
 * Reads `generate(20)` or `generate(20, temperature=0.8, top_k=40, seed=1)`. Throws an `ExpressionError` that says
 * what is wrong.
 */
export function parseGenerationCall(text: string): GenerationRequest {
  const given = argumentsOf(parseExpression(text));
  const tokens = whole('tokens', given.get('tokens'), 1) ?? DEFAULT_TOKENS;
  const temperature = positive('temperature', given.get('temperature'));
  const topK = whole('top_k', given.get('top_k'), 1);
  const seed = whole('seed', given.get('seed'), 0);
  if (seed !== undefined && temperature === undefined && topK === undefined) {
    throw new ExpressionError(
      'Without temperature or top_k the likeliest token is taken, and seed has nothing to do; add one of them.',
    );
  }
  return { tokens, temperature, topK, seed };
}

function argumentsOf(expression: Expression): Map<Name, Value> {
  const { root, text } = expression;
  if (root.type !== 'call' || root.callee.type !== 'name' || root.callee.name !== 'generate')
    throw new ExpressionError(`generate(...) gives text and stands alone, e.g. ${EXAMPLE}.`);
  if (root.positional.length > 1)
    throw new ExpressionError(
      `generate takes the number of tokens; the rest is given by name, e.g. ${EXAMPLE}.`,
    );
  const nodes = [...root.positional.map((value) => ({ name: NAMES[0], value })), ...root.named];
  const given = new Map<Name, Value>();
  for (const { name, value } of nodes) {
    const known = knownName(name);
    if (given.has(known)) throw new ExpressionError(`generate is given ${name} twice.`);
    given.set(known, evaluate(new Expression(text, value), NO_NAMES));
  }
  return given;
}

function knownName(name: string): Name {
  const known = NAMES.find((n) => n === name);
  if (known) return known;
  const meant = closest(name, NAMES);
  throw new ExpressionError(
    `generate has no argument ${name}${meant ? `; did you mean ${meant}?` : `, only ${NAMES.join(', ')}.`}`,
  );
}

function whole(name: Name, value: Value | undefined, least: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
  throw new ExpressionError(`${name} takes a whole number from ${least}, e.g. ${EXAMPLE}.`);
}

function positive(name: Name, value: Value | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && value > 0 && Number.isFinite(value)) return value;
  throw new ExpressionError(`${name} takes a number above 0, e.g. ${EXAMPLE}.`);
}
