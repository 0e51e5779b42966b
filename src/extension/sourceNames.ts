/** Finds the names that lines of TypeScript give values to. A scanner for well-formed code, not a parser. No vscode. */

export interface SourceName {
  name: string;
  /** Index of the line. */
  line: number;
  start: number;
  end: number;
}

const IDENTIFIER = '[A-Za-z_$][\\w$]*';

/** The lines `[first, last]` of the function around line `at`, its signature included; the whole text outside of any. */
export function enclosingFunction(lines: readonly string[], at: number): [first: number, last: number] {
  const bare = lines.map(stripped);
  let depth = 0;
  for (let line = at; line >= 0; line--) {
    // A brace that opens on the stopped line itself begins a block that is not entered yet.
    const text = line === at ? bare[line].replace(/\{[^}]*$/, '') : bare[line];
    for (let i = text.length - 1; i >= 0; i--) {
      if (text[i] === '}') depth++;
      else if (text[i] === '{' && --depth < 0) {
        const header = headerStart(bare, line);
        if (opensFunction(bare.slice(header, line + 1).join(' '))) return [header, closingLine(bare, line)];
        depth = 0;
      }
    }
  }
  return [0, lines.length - 1];
}

/** Without strings and comments, same length, so that positions stay true. */
function stripped(line: string): string {
  const blank = (text: string) => ' '.repeat(text.length);
  return line
    .replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g, blank)
    .replace(/\/\*.*?\*\//g, blank)
    .replace(/^\s*\*.*$|^\s*\/\*.*$/, blank)
    .replace(/\/\/.*$/, blank);
}

/** The line on which the parentheses that end before the brace on `line` begin. */
function headerStart(bare: readonly string[], line: number): number {
  let depth = 0;
  for (let at = line; at >= 0; at--) {
    const text = at === line ? bare[at].slice(0, bare[at].lastIndexOf('{')) : bare[at];
    for (const c of text) depth += c === ')' ? 1 : c === '(' ? -1 : 0;
    if (depth <= 0) return at;
  }
  return line;
}

function opensFunction(header: string): boolean {
  if (/\bfunction\b|=>\s*\{\s*[^}]*$/.test(header)) return true;
  const method = /^\s*(?:[\w$]+\s+)*([A-Za-z_$][\w$]*)\s*(?:<[^>]*>)?\(.*\)\s*(?::[^={]+)?\{/.exec(header);
  return method !== null && !/^(?:if|for|while|switch|catch|with|return|do|else)$/.test(method[1]);
}

function closingLine(bare: readonly string[], open: number): number {
  let depth = 0;
  for (let line = open; line < bare.length; line++) {
    const text = line === open ? bare[line].slice(bare[line].lastIndexOf('{')) : bare[line];
    for (const c of text) {
      if (c === '{') depth++;
      else if (c === '}' && --depth === 0) return line;
    }
  }
  return bare.length - 1;
}

/** Declared, assigned and parameter names on the lines `from` .. `to`, in order of appearance. */
export function assignedNames(lines: readonly string[], from: number, to: number): SourceName[] {
  const found: SourceName[] = [];
  for (let line = Math.max(0, from); line <= Math.min(to, lines.length - 1); line++) {
    const text = stripped(lines[line]);
    const seen = new Set<number>();
    for (const { name, start } of namesOf(text).sort((a, b) => a.start - b.start)) {
      if (!seen.has(start)) found.push({ name, line, start, end: start + name.length });
      seen.add(start);
    }
  }
  return found;
}

interface Found {
  name: string;
  start: number;
}

function namesOf(text: string): Found[] {
  return [
    ...matches(text, new RegExp(`\\b(?:const|let|var)\\s+(${IDENTIFIER})\\s*(?::[^=]+)?=(?!=)`, 'dg')),
    ...matches(text, new RegExp(`^\\s*(${IDENTIFIER})\\s*=(?![=>])`, 'dg')),
    ...patternNames(text),
    ...parameterNames(text),
  ];
}

function matches(text: string, pattern: RegExp): Found[] {
  return [...text.matchAll(pattern)].flatMap((match) => {
    const place = match.indices?.[1];
    return place ? [{ name: match[1], start: place[0] }] : [];
  });
}

/** `const [dt, B, C] =` and `const { u, delta: d } =` */
function patternNames(text: string): Found[] {
  const pattern = /\b(?:const|let|var)\s+([[{])([^\]}]*)[\]}]\s*=(?!=)/dg;
  return [...text.matchAll(pattern)].flatMap((match) => {
    const start = match.indices?.[2]?.[0] ?? 0;
    return partsOf(match[2], start).flatMap(({ text: part, start: at }) => {
      // Behind a colon stands the name that the value really gets.
      const found = /^(\s*(?:\.\.\.)?(?:[\w$]+\s*:\s*)?)([A-Za-z_$][\w$]*)/.exec(part);
      return found ? [{ name: found[2], start: at + found[1].length }] : [];
    });
  });
}

/** `function f(p: Builder, x: Value)`, also a line of a signature that spans several. */
function parameterNames(text: string): Found[] {
  const oneLine = /\bfunction\s+[\w$]*\s*(?:<[^>]*>)?\(([^)]*)/d.exec(text);
  const list =
    oneLine?.indices?.[1] ??
    (/^\s*[A-Za-z_$][\w$]*\??: [^=;]+,\s*$/.test(text) ? [0, text.length] : undefined);
  if (!list) return [];
  return partsOf(text.slice(list[0], list[1]), list[0]).flatMap(({ text: part, start }) => {
    const found = /^(\s*(?:\.\.\.)?)([A-Za-z_$][\w$]*)\s*\??:/.exec(part);
    return found ? [{ name: found[2], start: start + found[1].length }] : [];
  });
}

function partsOf(text: string, start: number): { text: string; start: number }[] {
  let at = start;
  return text.split(',').map((part) => {
    const here = { text: part, start: at };
    at += part.length + 1;
    return here;
  });
}

/** The dotted name that ends with the part at `column`: over `conv1d` in `w.conv1d.bias` it is `w.conv1d`. */
export function dottedNameAt(line: string, column: number): { start: number; end: number } | undefined {
  const pattern = new RegExp(`${IDENTIFIER}(?:\\.${IDENTIFIER})*`, 'g');
  const bare = stripped(line);
  for (const match of bare.matchAll(pattern)) {
    const start = match.index;
    if (column < start || column > start + match[0].length) continue;
    const dot = match[0].indexOf('.', column - start);
    const name = dot < 0 ? match[0] : match[0].slice(0, dot);
    return bare[start - 1] === '.' ? undefined : { start, end: start + name.length };
  }
  return undefined;
}
