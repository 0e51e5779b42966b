import { syntaxError } from './errors';

interface StringToken {
  type: 'string';
  value: string;
  start: number;
  end: number;
}

const SIMPLE_ESCAPES: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};

const NUMERIC_ESCAPE = /x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})/y;

/** Reads a string in single or double quotes, raw ones (`r"..."`) too, with Python's escapes. */
export function readString(text: string, start: number): StringToken {
  const open = start + text.slice(start).search(/["']/);
  const prefix = text.slice(start, open).toLowerCase();
  if (prefix.includes('f')) throw syntaxError('f-strings are not supported', start, 'a plain string');
  if (prefix.includes('b')) throw syntaxError('byte strings are not supported', start, 'a plain string');
  const quote = text[open];
  if (text.startsWith(quote.repeat(3), open))
    throw syntaxError('strings in triple quotes are not supported', start, 'a plain string');
  let value = '';
  for (let at = open + 1; at < text.length; ) {
    if (text[at] === quote) return { type: 'string', value, start, end: at + 1 };
    if (text[at] === '\n') break;
    const piece = text[at] === '\\' ? readEscape(text, at, prefix === 'r') : { value: text[at], length: 1 };
    value += piece.value;
    at += piece.length;
  }
  throw syntaxError('the string is not closed', start, `a ${quote} at its end`);
}

function readEscape(text: string, at: number, raw: boolean): { value: string; length: number } {
  const next = text[at + 1] ?? '';
  if (raw) return { value: text.slice(at, at + 2), length: 2 };
  if (Object.hasOwn(SIMPLE_ESCAPES, next)) return { value: SIMPLE_ESCAPES[next], length: 2 };
  NUMERIC_ESCAPE.lastIndex = at + 1;
  const match = NUMERIC_ESCAPE.exec(text);
  // Python keeps the backslash of an escape that it does not know.
  if (!match) return { value: `\\${next}`, length: 1 + next.length };
  const [, two, four, eight, octal] = match;
  const code = octal === undefined ? Number.parseInt(two ?? four ?? eight, 16) : Number.parseInt(octal, 8);
  if (code > 0x10ffff) throw syntaxError(`"\\${match[0]}" is beyond the last character`, at);
  return { value: String.fromCodePoint(code), length: 1 + match[0].length };
}
