/** Says early what is surely wrong with a condition; the adapter has the last word. No vscode. */

/** Words of the condition language that are not tensors. */
const WORDS = new Set([
  'and',
  'or',
  'not',
  'in',
  'is',
  'if',
  'else',
  'True',
  'False',
  'None',
  'math',
  'torch',
]);

/** What every boundary knows beside its tensors. */
const SITE_WORDS = ['layer', 'direction', 'module', 'op', 't', 'pass_', 'step'];

const CLOSING: Record<string, string> = { '(': ')', '[': ']', '{': '}' };

/** One sentence about a condition, or nothing. `names` are the tensors known there; empty when nobody knows. */
export function conditionHint(condition: string, names: readonly string[]): string | undefined {
  const text = condition.trim();
  if (!text) return undefined;
  const bare = withoutStrings(text);
  if (bare === undefined) return 'A quotation mark is not closed.';
  return operatorHint(bare) ?? bracketHint(bare) ?? nameHint(bare, names);
}

/** Strings become empty ones, so that what they say is not taken for code. */
function withoutStrings(text: string): string | undefined {
  const bare = text.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""');
  return /["']/.test(bare.replaceAll('""', '')) ? undefined : bare;
}

function operatorHint(bare: string): string | undefined {
  if (/&&|\|\|/.test(bare)) return 'Write "and" and "or" instead of && and ||.';
  if (/![^=]/.test(bare)) return 'Write "not" instead of "!".';
  if (/[=!]==/.test(bare)) return 'Compare with == or !=.';
  if (/[^=<>!]=(?!=)/.test(bare)) return 'A single "=" assigns; compare with ==.';
  if (/(?:[<>=!+\-*/%]|\b(?:and|or|not|in))\s*$/.test(bare)) return 'Something is missing at the end.';
  if (/^(?:[<>=*/%]|(?:and|or|in)\b)/.test(bare)) return 'Something is missing at the beginning.';
  return undefined;
}

function bracketHint(bare: string): string | undefined {
  const open: string[] = [];
  for (const c of bare) {
    if (c in CLOSING) open.push(CLOSING[c]);
    else if (Object.values(CLOSING).includes(c) && open.pop() !== c) return `"${c}" closes nothing.`;
  }
  return open.length > 0 ? `"${open.at(-1)}" is missing.` : undefined;
}

function nameHint(bare: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const known = new Set([...names, ...SITE_WORDS, ...WORDS]);
  // Members and functions are left to the adapter, which knows them all.
  const used = bare.matchAll(/(?<![.\w])([A-Za-z_]\w*)(?![\w]|\s*\()/g);
  for (const [, name] of used) {
    if (!known.has(name))
      return `"${name}" is not known here; there are ${[...names, 'layer', 'direction'].join(', ')}.`;
  }
  return undefined;
}
