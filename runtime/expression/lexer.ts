import { syntaxError } from './errors';
import { readNumber } from './numberLiteral';
import { readString } from './stringLiteral';

export type Token =
  | { type: 'number'; value: number; start: number; end: number }
  | { type: 'string'; value: string; start: number; end: number }
  | { type: 'name' | 'keyword' | 'operator'; text: string; start: number; end: number }
  | { type: 'end'; start: number; end: number };

/** Longer texts and more tokens are refused, so that no condition can hold up the program. */
const MAX_LENGTH = 10_000;
const MAX_TOKENS = 1000;

const KEYWORDS = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else', 'True', 'False', 'None']);

const OPERATORS = new Set('+ - * / // % ** < <= > >= == != & | ~ ( ) [ ] , : . ... ='.split(' '));

/** Spellings of other languages and Python that conditions do not have: what to write, or why not. */
const FOREIGN: Record<string, { what: string; write?: string }> = {
  '&&': { what: '"&&" is not Python', write: 'and' },
  '||': { what: '"||" is not Python', write: 'or' },
  '!': { what: '"!" is not Python', write: 'not' },
  '===': { what: '"===" is not Python', write: '==' },
  '!==': { what: '"!==" is not Python', write: '!=' },
  '<>': { what: '"<>" is not Python', write: '!=' },
  ':=': { what: 'a condition cannot assign', write: '==' },
  '?': { what: '"?" is not Python', write: 'a if condition else b' },
  '^': { what: '"^" is not supported', write: '** for a power' },
  '@': { what: 'matrix products are not supported' },
  '<<': { what: 'shifts are not supported' },
  '>>': { what: 'shifts are not supported' },
  '->': { what: '"->" is not supported' },
  '{': { what: 'sets and dictionaries are not supported', write: '( ) or [ ]' },
  '}': { what: 'there is no "{" that this "}" closes' },
  ';': { what: 'only one expression is evaluated', write: 'and' },
  '`': { what: 'backquotes are not Python', write: 'straight quotes' },
  '#': { what: 'comments are not supported' },
  '\\': { what: 'a backslash has no meaning here' },
  $: { what: '"$" is not Python' },
  '“': { what: 'these quotes are not Python', write: 'straight quotes' },
  '”': { what: 'these quotes are not Python', write: 'straight quotes' },
  '‘': { what: 'these quotes are not Python', write: 'straight quotes' },
  '’': { what: 'these quotes are not Python', write: 'straight quotes' },
  '≤': { what: '"≤" is not Python', write: '<=' },
  '≥': { what: '"≥" is not Python', write: '>=' },
  '≠': { what: '"≠" is not Python', write: '!=' },
  '−': { what: '"−" is not a minus sign of Python', write: '-' },
  '×': { what: '"×" is not Python', write: '*' },
  '…': { what: '"…" is not Python', write: '...' },
};

/** Words that look like names but mean something else to whoever wrote them. */
const FOREIGN_WORDS: Record<string, { what: string; write?: string }> = {
  null: { what: '"null" is not Python', write: 'None' },
  undefined: { what: '"undefined" is not Python', write: 'None' },
  true: { what: '"true" is not Python', write: 'True' },
  false: { what: '"false" is not Python', write: 'False' },
  NaN: { what: '"NaN" is not a name', write: 'nan(x) to count them, or float("nan")' },
  Infinity: { what: '"Infinity" is not a name', write: 'inf(x) to count them, or float("inf")' },
  AND: { what: '"AND" is not Python', write: 'and' },
  OR: { what: '"OR" is not Python', write: 'or' },
  NOT: { what: '"NOT" is not Python', write: 'not' },
  lambda: { what: 'functions cannot be written in a condition' },
  for: { what: 'comprehensions are not supported', write: 'e.g. (x > 0).any() instead of a loop' },
  ...Object.fromEntries(
    (
      'as assert async await break class continue def del except finally from global import nonlocal pass ' +
      'raise return try while with yield'
    )
      .split(' ')
      .map((word) => [word, { what: `"${word}" is a statement, and only expressions are evaluated` }]),
  ),
};

const SPACE = /[\s\u00a0]/;
const NAME_START = /[\p{L}_]/u;
const NAME = /[\p{L}_][\p{L}\p{M}\p{N}_]*/uy;
const STRING_START = /(?:[rbuf]|r[bf]|[bf]r)?["']/iy;

/** Splits a text into tokens, the last of type `end`. Throws an `ExpressionError`. */
export function tokenize(text: string): Token[] {
  if (text.length > MAX_LENGTH)
    throw syntaxError(`the text is longer than ${MAX_LENGTH.toLocaleString('en-US')} characters`, MAX_LENGTH);
  const tokens: Token[] = [];
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, tokens.at(-1)!.end)) {
    if (tokens.length === MAX_TOKENS)
      throw syntaxError(`the expression has more than ${MAX_TOKENS.toLocaleString('en-US')} parts`, at);
    tokens.push(readToken(text, at));
  }
  tokens.push({ type: 'end', start: text.length, end: text.length });
  return tokens;
}

function skipSpace(text: string, at: number): number {
  while (at < text.length && SPACE.test(text[at])) at++;
  return at;
}

function readToken(text: string, at: number): Token {
  STRING_START.lastIndex = at;
  if (STRING_START.test(text)) return readString(text, at);
  if (/\d/.test(text[at]) || (text[at] === '.' && /\d/.test(text[at + 1] ?? ''))) return readNumber(text, at);
  if (NAME_START.test(characterAt(text, at))) return readWord(text, at);
  return readOperator(text, at);
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at)!);
}

function readWord(text: string, at: number): Token {
  NAME.lastIndex = at;
  const word = NAME.exec(text)![0];
  if (Object.hasOwn(FOREIGN_WORDS, word)) {
    const { what, write } = FOREIGN_WORDS[word];
    throw syntaxError(what, at, write);
  }
  return { type: KEYWORDS.has(word) ? 'keyword' : 'name', text: word, start: at, end: at + word.length };
}

function readOperator(text: string, at: number): Token {
  for (let length = 3; length > 0; length--) {
    const word = text.slice(at, at + length);
    if (Object.hasOwn(FOREIGN, word)) throw syntaxError(FOREIGN[word].what, at, FOREIGN[word].write);
    if (OPERATORS.has(word)) return { type: 'operator', text: word, start: at, end: at + length };
  }
  throw syntaxError(`"${characterAt(text, at)}" has no meaning here`, at);
}
