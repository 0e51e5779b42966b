import { syntaxError } from './errors';

interface NumberToken {
  type: 'number';
  value: number;
  start: number;
  end: number;
}

const DIGITS = '[0-9](?:_?[0-9])*';
const PREFIXED = /0(?:[xX](?:_?[0-9a-fA-F])+|[oO](?:_?[0-7])+|[bB](?:_?[01])+)/y;
const DECIMAL = new RegExp(
  `(?:${DIGITS}\\.(?:${DIGITS})?|\\.${DIGITS}|${DIGITS})(?:[eE][+-]?${DIGITS})?`,
  'y',
);

/** Reads a Python number: `1`, `1_000`, `1.5`, `.5`, `1e-3`, `0x1F`, `0b101`, `0o17`. */
export function readNumber(text: string, at: number): NumberToken {
  const word = match(PREFIXED, text, at) ?? match(DECIMAL, text, at) ?? '';
  const end = at + word.length;
  const next = text[end] ?? '';
  if (/[jJ]/.test(next)) throw syntaxError('complex numbers are not supported', at);
  if (word === '' || /[\p{L}\d_]/u.test(next)) {
    const whole = /[\w.]*/.exec(text.slice(at))![0];
    throw syntaxError(`"${whole}" is not a number that Python knows`, at);
  }
  if (/^0[0-9_]*[1-9]/.test(word) && /^[0-9_]+$/.test(word))
    throw syntaxError(`"${word}" has leading zeros`, at, word.replace(/^[0_]+/, ''));
  return { type: 'number', value: Number(word.replaceAll('_', '')), start: at, end };
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
