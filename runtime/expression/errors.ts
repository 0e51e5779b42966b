/**
 * What is wrong with an expression, in a sentence that also says what to write instead. `column` (from 1)
 * is where in the text, as far as known.
 */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';

  constructor(
    message: string,
    public column?: number,
    /** What to write instead, e.g. `and`; part of the message too. */
    readonly suggestion?: string,
  ) {
    super(message);
  }
}

/** An error in the text itself: `Column 9: "&&" is not Python; write and.` */
export function syntaxError(what: string, position: number, suggestion?: string): ExpressionError {
  const advice = suggestion === undefined ? '' : `; write ${suggestion}`;
  return new ExpressionError(`Column ${position + 1}: ${what}${advice}.`, position + 1, suggestion);
}

/** Runs `action`; an `ExpressionError` that does not say where it is yet gets `position`. */
export function locate<T>(position: number, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof ExpressionError) error.column ??= position + 1;
    throw error;
  }
}

/** The candidate that a mistyped name most likely stands for, if one is near enough. */
export function closest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance =
      candidate.toLowerCase() === name.toLowerCase() ? 0 : editDistance(name, candidate, least);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, at most `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length];
}

/** "; did you mean `delta`?" or nothing. */
export function didYouMean(
  name: string,
  candidates: Iterable<string>,
): { advice: string; suggestion?: string } {
  const suggestion = closest(name, candidates);
  return suggestion === undefined ? { advice: '.' } : { advice: `; did you mean ${suggestion}?`, suggestion };
}

/** Names for a sentence, not more than a reader takes in. */
export function listNames(names: readonly string[], most = 30): string {
  if (names.length <= most) return names.join(', ');
  return `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}
