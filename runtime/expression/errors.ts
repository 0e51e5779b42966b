import { closest } from '../../src/protocol/spelling';

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
