/** A statement of a model's source that gives tensors a name. Lines count from 1. */
export interface Assignment {
  readonly start: number;
  readonly end: number;
  /** `x = ...`, `[x, z] = ...` or `{ hidden, residual } = ...`. */
  readonly kind: 'single' | 'array' | 'object';
  readonly names: readonly string[];
}

const DECLARATION = /^\s*(?:const|let)\s+(?:(\w+)|\[([^\]]*)\]|\{([^}]*)\})\s*=\s*(.*)$/;

/**
 * The declarations whose right side is known to be tensors: a call of the builder, or of a function of this
 * file that is declared to return `Value`. Others are left out, so that a name never shows a wrong tensor.
 */
export function parseAssignments(text: string): Assignment[] {
  const lines = text.split('\n');
  const makers = valueFunctions(text);
  const found: Assignment[] = [];
  lines.forEach((line, i) => {
    const match = DECLARATION.exec(line);
    if (!match) return;
    const end = statementEnd(lines, i);
    const [, single, array, object] = match;
    const right = [match[4], ...lines.slice(i + 1, end + 1)].join(' ');
    if (!object && !givesTensors(right, makers)) return;
    const kind = single ? 'single' : array ? 'array' : 'object';
    const names = (single ?? array ?? object).split(',').map((n) => n.trim());
    found.push({ start: i + 1, end: end + 1, kind, names });
  });
  return found;
}

/** Names of functions declared to return `Value`. */
function valueFunctions(text: string): Set<string> {
  return new Set([...text.matchAll(/function (\w+)\([^)]*\): Value \{/g)].map((m) => m[1]));
}

const NOT_OPS = new Set(['parameter', 'buffer', 'input']);

/** True when the outermost call on the right side makes tensors. */
function givesTensors(right: string, makers: ReadonlySet<string>): boolean {
  const call = right.replace(/^[^?(]+\? /, '').replace(/^p\.direction\(.*?\(\) =>\s*/, '');
  const callee = /^(p\.)?(\w+)\(/.exec(call);
  if (!callee) return false;
  return callee[1] ? !NOT_OPS.has(callee[2]) : makers.has(callee[2]);
}

/** Index of the line on which the statement that starts at line `from` ends: where its brackets close. */
function statementEnd(lines: readonly string[], from: number): number {
  let depth = 0;
  for (let i = from; i < lines.length; i++) {
    for (const c of lines[i].replace(/\/\/.*$/, '')) {
      if ('([{'.includes(c)) depth++;
      if (')]}'.includes(c)) depth--;
    }
    if (depth <= 0 && /;\s*(\/\/.*)?$/.test(lines[i])) return i;
  }
  return from;
}
