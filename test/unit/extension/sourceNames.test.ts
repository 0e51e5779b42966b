import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assignedNames, dottedNameAt, enclosingFunction } from '../../../src/extension/sourceNames';

const names = (text: string) => {
  const lines = text.split('\n');
  return assignedNames(lines, 0, lines.length - 1).map(({ name }) => name);
};

describe('names that a line gives a value to', () => {
  it.each([
    ['const u = p.silu(x);', ['u']],
    ['  let h: Tensor = zeros();', ['h']],
    ['h = p.add(h, x);', ['h']],
    ['const [dt, B, C] = p.split(x, 1, [c.r, c.n, c.n]);', ['dt', 'B', 'C']],
    ['const { u, delta: d, ...rest } = selection(p);', ['u', 'd', 'rest']],
    ['function mixer(p: ModelBuilder, hidden: Value, c: MixerConfig): Value {', ['p', 'hidden', 'c']],
    ['  hidden: Value,', ['hidden']],
  ])('%s', (line, expected) => expect(names(line)).toEqual(expected));

  it.each([
    'if (a === b) return;',
    'return p.linear(y);',
    '// const old = 1;',
    ' * const old = 1;',
    "log('const x = 1');",
    'items.map((a) => a.b);',
    'a <= b;',
  ])('none in %s', (line) => expect(names(line)).toEqual([]));

  it('says where each name stands', () => {
    expect(assignedNames(['', '  const delta = 1;'], 1, 1)).toEqual([
      { name: 'delta', line: 1, start: 8, end: 13 },
    ]);
  });
});

const SOURCE = `import { a } from 'a';

/** A block. */
export function block(p: Builder, x: Value): Value {
  const y = norm(p, x);
  if (y.shape[0] > 1) {
    const z = p.add(x, y);
    return z;
  }
  return p.direction('backward', () => {
    const w = p.flip(y, 2);
    return w;
  });
}

export class Runner {
  run(
    x: Value,
    y: Value,
  ): Value {
    const out = mixer(x, y);
    return out;
  }
}

const top = 1;`.split('\n');
const at = (text: string) => SOURCE.findIndex((line) => line.includes(text));

describe('the function around a line', () => {
  it.each([
    ['const y = norm', 'export function block', '}'],
    ['return z;', 'export function block', '}'],
    ['return w;', "return p.direction('backward'", '});'],
    ['return out;', 'run(', '}'],
  ])('of %s', (line, first, last) => {
    const [from, to] = enclosingFunction(SOURCE, at(line));
    expect(SOURCE[from]).toContain(first);
    expect(SOURCE[to].trim()).toBe(last);
  });

  it('is the whole text outside of any', () => {
    expect(enclosingFunction(SOURCE, at('const top'))).toEqual([0, SOURCE.length - 1]);
  });

  it('reads the model sources that ship', () => {
    const lines = readFileSync('runtime/models/mixer.ts', 'utf8').split('\n');
    const stopped = lines.findIndex((line) =>
      line.includes('return p.selectiveScan({ u, delta, A, B, C, D, z })'),
    );
    const [from] = enclosingFunction(lines, stopped);
    expect(lines[from]).toContain('function scanDirection');
    const found = assignedNames(lines, from, stopped).map(({ name }) => name);
    expect(found).toEqual(['p', 'xz', 'suffix', 'c', 'u', 'delta', 'A', 'B', 'C', 'D', 'z']);
  });
});

describe('the expression under the pointer', () => {
  const line = 'const y = w.conv1d.bias; // w.note';
  const over = (text: string, offset = 1) => {
    const found = dottedNameAt(line, line.indexOf(text) + offset);
    return found && line.slice(found.start, found.end);
  };
  it.each([
    ['w.conv1d', 'w', 0],
    ['conv1d', 'w.conv1d', 2],
    ['bias', 'w.conv1d.bias', 2],
    ['y =', 'y', 0],
  ])('over %s is %s', (text, expected, offset) => expect(over(text, offset)).toBe(expected));

  it('is nothing in comments and strings', () => {
    expect(over('note')).toBeUndefined();
    expect(dottedNameAt("log('delta')", 6)).toBeUndefined();
  });

  it('leaves out what hangs on a call', () => {
    expect(dottedNameAt('f(x).shape', 7)).toBeUndefined();
  });
});
