import type { EmbeddedLaunch, LaunchBreakpoint } from '../protocol/launch';
import { cannotLaunch, noModel, wrongArgument } from './errors';

/** Arguments of a request as they come: nothing about them is certain. */
export class RequestArguments {
  private readonly given: Record<string, unknown>;

  constructor(
    readonly command: string,
    given: unknown,
  ) {
    this.given = isObject(given) ? given : {};
  }

  raw(name: string): unknown {
    return this.given[name];
  }

  number(name: string): number {
    const x = this.given[name];
    if (typeof x === 'number' && Number.isFinite(x)) return x;
    throw wrongArgument(this.command, name, 'a number');
  }

  optionalNumber(name: string): number | undefined {
    return this.given[name] === undefined ? undefined : this.number(name);
  }

  string(name: string): string {
    const x = this.given[name];
    if (typeof x === 'string') return x;
    throw wrongArgument(this.command, name, 'a text');
  }

  optionalString(name: string): string | undefined {
    return this.given[name] === undefined || this.given[name] === null ? undefined : this.string(name);
  }

  objects(name: string): RequestArguments[] {
    const x = this.given[name] ?? [];
    if (Array.isArray(x)) return x.map((item) => new RequestArguments(this.command, item));
    throw wrongArgument(this.command, name, 'a list');
  }

  strings(name: string): string[] {
    const x = this.given[name] ?? [];
    if (Array.isArray(x)) return x.filter((item): item is string => typeof item === 'string');
    throw wrongArgument(this.command, name, 'a list');
  }

  object(name: string): RequestArguments {
    return new RequestArguments(this.command, this.given[name]);
  }
}

export function isObject(x: unknown): x is Record<string, unknown> {
  return typeof x === 'object' && x !== null && !Array.isArray(x);
}

/** Checks a launch configuration. Throws a `UserError` that names the argument that is wrong. */
export function readLaunch(given: unknown): EmbeddedLaunch {
  const a = isObject(given) ? given : {};
  const { model } = a;
  if (model === undefined || model === '') throw noModel();
  if (typeof model !== 'string' && !isObject(model)) {
    throw cannotLaunch(
      '"model" in the launch configuration must be a published name, a JSON file, or an object of arguments.',
    );
  }
  return {
    model,
    checkpoint: textOf(a, 'checkpoint'),
    input: textOf(a, 'input'),
    text: wordsOf(a, 'text'),
    label: countOf(a, 'label'),
    seed: countOf(a, 'seed'),
    memoryLimit: countOf(a, 'memoryLimit'),
    threads: countOf(a, 'threads'),
    backward: a['backward'] === true,
    loss: wordsOf(a, 'loss'),
    stopOnEntry: a['stopOnEntry'] === true,
    noDebug: a['noDebug'] === true,
    breakpoints: readBreakpoints(a['breakpoints']),
  };
}

/** Hit counts are often written as numbers. */
function wordOf(item: Record<string, unknown>, key: string): string | undefined {
  const x = item[key] ?? undefined;
  if (x === undefined || typeof x === 'string') return x;
  if (typeof x === 'number') return String(x);
  throw cannotLaunch(
    `"${key}" of the breakpoint "${item['name']}" in the launch configuration must be a text.`,
  );
}

function textOf(a: Record<string, unknown>, name: string): string | undefined {
  const x = a[name] ?? undefined;
  if (x === undefined || x === '') return undefined;
  if (typeof x === 'string') return x;
  throw cannotLaunch(`"${name}" in the launch configuration must be a path.`);
}

function wordsOf(a: Record<string, unknown>, name: string): string | undefined {
  const x = a[name] ?? undefined;
  if (x === undefined || typeof x === 'string') return x || undefined;
  throw cannotLaunch(`"${name}" in the launch configuration must be a text.`);
}

function countOf(a: Record<string, unknown>, name: string): number | undefined {
  const x = a[name] ?? undefined;
  if (x === undefined) return undefined;
  if (typeof x === 'number' && Number.isInteger(x) && x >= 0) return x;
  throw cannotLaunch(`"${name}" in the launch configuration must be a whole number from 0.`);
}

/** The breakpoints of a launch configuration. Throws a `UserError` when one has no name. */
export function readBreakpoints(x: unknown): LaunchBreakpoint[] {
  if (x === undefined || x === null) return [];
  if (!Array.isArray(x)) throw cannotLaunch('"breakpoints" in the launch configuration must be a list.');
  return x.map((item) => {
    if (typeof item === 'string') return { name: item };
    if (isObject(item) && typeof item['name'] === 'string') {
      const [condition, hitCondition, logMessage] = ['condition', 'hitCondition', 'logMessage'].map((key) =>
        wordOf(item, key),
      );
      return { name: item['name'], condition, hitCondition, logMessage };
    }
    throw cannotLaunch(
      'Each of the "breakpoints" in the launch configuration needs a "name", e.g. "selective_scan".',
    );
  });
}
