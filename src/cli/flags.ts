import { type ParseArgsConfig, parseArgs } from 'node:util';

/** A command line that cannot be understood, in one sentence. */
export class UsageError extends Error {}

type Flags = NonNullable<ParseArgsConfig['options']>;

/** Reads the arguments behind a command that takes one model. Throws a `UsageError`. */
export function parseCommand<F extends Flags>(command: string, args: string[], flags: F) {
  const { values, positionals } = parseFlags(args, flags);
  if (positionals.length === 1) return { model: positionals[0], values };
  throw new UsageError(
    positionals.length === 0
      ? `"scanpoint ${command}" needs a model.`
      : `"scanpoint ${command}" takes one model, not ${positionals.length}.`,
  );
}

/** Reads flags and what stands between them. Throws a `UsageError`. */
export function parseFlags<F extends Flags>(args: string[], options: F) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0].replace(/\.?$/, '.'));
  }
}

/** A whole number from `least`, or undefined when the flag is absent. Throws a `UsageError`. */
export function wholeNumber(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least && text.trim() !== '') return value;
  throw new UsageError(`--${name} takes a whole number from ${least}, not "${text}".`);
}

/** A number above 0, or undefined when the flag is absent. Throws a `UsageError`. */
export function positiveNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new UsageError(`--${name} takes a number above 0, not "${text}".`);
}
