import { closest } from '../../src/protocol/spelling';

/** A wrong model configuration, in one sentence. */
export class ConfigError extends Error {}

/** Reads constructor arguments by name, checks their types, and knows in the end which ones nobody asked for. */
export class Arguments {
  private readonly asked = new Set<string>();

  constructor(
    private readonly owner: string,
    private readonly given: Record<string, unknown>,
  ) {}

  size(name: string, fallback: number, least = 1): number {
    const x = this.take(name) ?? fallback;
    if (typeof x === 'number' && Number.isInteger(x) && x >= least && x <= 1e6) return x;
    throw this.wrong(name, x, `a whole number from ${least}`);
  }

  /** A size, or "auto" for the fallback. */
  autoSize(name: string, fallback: number): number {
    return this.take(name) === 'auto' ? fallback : this.size(name, fallback);
  }

  number(name: string, fallback: number): number {
    const x = this.take(name) ?? fallback;
    if (typeof x === 'number' && Number.isFinite(x)) return x;
    throw this.wrong(name, x, 'a number');
  }

  optionalNumber(name: string): number | undefined {
    return this.take(name) === undefined ? undefined : this.number(name, 0);
  }

  flag(name: string, fallback: boolean): boolean {
    const x = this.take(name) ?? fallback;
    if (typeof x === 'boolean') return x;
    throw this.wrong(name, x, 'true or false');
  }

  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const x = this.take(name) ?? fallback;
    const found = choices.find((c) => c === x);
    if (found) return found;
    throw this.wrong(name, x, choices.map((c) => `"${c}"`).join(', '));
  }

  nested(name: string): Arguments {
    const x = this.take(name) ?? {};
    if (typeof x === 'object' && !Array.isArray(x)) return new Arguments(name, x as Record<string, unknown>);
    throw this.wrong(name, x, 'an object of arguments');
  }

  /** Arguments that are right to give but change nothing here. */
  ignore(...names: string[]): void {
    for (const name of names) this.take(name);
  }

  /** Throws when an argument was given that nobody asked for. */
  finish(): void {
    const known = [...this.asked];
    const unknown = Object.keys(this.given).find((name) => !this.asked.has(name));
    if (!unknown) return;
    const hint = closest(unknown, known);
    throw new ConfigError(
      `${this.owner} has no argument "${unknown}"${hint ? `; did you mean "${hint}"?` : '.'} Known arguments: ${known.sort().join(', ')}.`,
    );
  }

  private take(name: string): unknown {
    this.asked.add(name);
    return this.given[name] ?? undefined;
  }

  private wrong(name: string, value: unknown, expected: string): ConfigError {
    return new ConfigError(
      `${this.owner}'s argument ${name} is ${JSON.stringify(value)}; it takes ${expected}.`,
    );
  }
}
