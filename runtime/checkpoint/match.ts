/** Compares a model's parameters with a checkpoint's tensors and says which setting explains a difference. */
import { formatHeadline } from './headline';
import { findHints, type Hint } from './hints';
import { formatShape } from './record';
import { foldName } from './settings';

export interface ExpectedKey {
  readonly name: string;
  readonly shape: readonly number[];
  /** The model can do without it. */
  readonly optional?: boolean;
}

export interface FoundKey {
  readonly shape: readonly number[];
}

export type KeyProblem = 'missing' | 'unexpected' | 'shape';

/** Keys of one folded name with the same problem and the same shapes. */
export interface KeyGroup {
  readonly problem: KeyProblem;
  /** `layers.*.mixer.A_b_log`. */
  readonly name: string;
  readonly keys: string[];
  readonly expected?: readonly number[];
  readonly found?: readonly number[];
}

export interface KeyReport {
  /** True when all the model needs is there and what is left over says nothing against it. */
  readonly fits: boolean;
  readonly expectedCount: number;
  readonly foundCount: number;
  readonly matched: number;
  readonly missing: KeyGroup[];
  readonly unexpected: KeyGroup[];
  readonly misshaped: KeyGroup[];
  /** Settings in which the checkpoint seems to differ from the model, most telling first. */
  readonly hints: Hint[];
}

/** Compares names and shapes; nothing is loaded. */
export function matchKeys(expected: readonly ExpectedKey[], found: ReadonlyMap<string, FoundKey>): KeyReport {
  const groups = new Groups();
  const names = new Set(expected.map(({ name }) => name));
  let matched = 0;
  for (const { name, shape, optional } of expected) {
    const entry = found.get(name);
    if (!entry) {
      if (!optional) groups.add('missing', name, shape, undefined);
    } else if (sameShape(shape, entry.shape)) matched++;
    else groups.add('shape', name, shape, entry.shape);
  }
  for (const [name, { shape }] of found)
    if (!names.has(name)) groups.add('unexpected', name, undefined, shape);
  const report = {
    expectedCount: expected.length,
    foundCount: found.size,
    matched,
    missing: groups.of('missing'),
    unexpected: groups.of('unexpected'),
    misshaped: groups.of('shape'),
  };
  const hints = findHints(expected, found, groups.all);
  return { ...report, hints, fits: fits(expected, report) };
}

/** Left-over keys count against the checkpoint when they lie in a part that the model has, or set it apart. */
function fits(expected: readonly ExpectedKey[], report: Omit<KeyReport, 'hints' | 'fits'>): boolean {
  if (report.missing.length > 0 || report.misshaped.length > 0) return false;
  const parts = new Set(expected.map(({ name }) => topPart(name)));
  return !report.unexpected.some(({ name }) => parts.has(topPart(name)) || TELLING.test(name));
}

const TELLING = /^(cls_token|pos_embed|rope)/;

function topPart(name: string): string {
  return name.split('.', 1)[0];
}

class Groups {
  private readonly byId = new Map<string, KeyGroup>();

  add(problem: KeyProblem, key: string, expected?: readonly number[], found?: readonly number[]): void {
    const name = foldName(key);
    const id = JSON.stringify([problem, name, expected, found]);
    const group = this.byId.get(id);
    if (group) group.keys.push(key);
    else this.byId.set(id, { problem, name, keys: [key], expected, found });
  }

  of(problem: KeyProblem): KeyGroup[] {
    return this.all.filter((group) => group.problem === problem);
  }

  get all(): KeyGroup[] {
    return [...this.byId.values()];
  }
}

function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, axis) => size === b[axis]);
}

export interface ReportOptions {
  /** Rows of the table; the rest is counted. 40 by default. */
  readonly maxRows?: number;
}

/** A headline, further hints, and a table: module, problem, keys, expected shape, found shape. */
export function formatKeyReport(report: KeyReport, { maxRows = 40 }: ReportOptions = {}): string {
  const groups = [...report.misshaped, ...report.missing, ...report.unexpected];
  if (groups.length === 0) return formatHeadline(report);
  const lines = [formatHeadline(report)];
  for (const { text } of report.hints.slice(1)) lines.push(`Also: ${text}`);
  lines.push('', ...formatTable(groups.slice(0, maxRows).map(toRow)));
  if (groups.length > maxRows) lines.push(`... and ${groups.length - maxRows} more rows are left out.`);
  return lines.join('\n');
}

function toRow({ problem, name, keys, expected, found }: KeyGroup): string[] {
  const dot = name.lastIndexOf('.');
  const leaf = name.slice(dot + 1);
  return [
    dot < 0 ? '(model)' : name.slice(0, dot),
    problem,
    keys.length > 1 ? `${leaf} x ${keys.length}` : leaf,
    expected ? formatShape(expected) : '-',
    found ? formatShape(found) : '-',
  ];
}

function formatTable(rows: readonly string[][]): string[] {
  const all = [['module', 'problem', 'keys', 'expected shape', 'found shape'], ...rows];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
}
