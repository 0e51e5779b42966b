/** Reads a file of `NAME=value` lines, as a launch configuration's `envFile` names it. */

/**
 * The variables of the text. `export` before a name, comments, and quotes around a value are understood; `${NAME}`
 * stands for a variable above or in `env`.
 */
export function parseEnvFile(text: string, env: NodeJS.ProcessEnv = {}): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line);
    if (match) found[match[1]] = expand(match[2], { ...env, ...found });
  }
  return found;
}

function expand(value: string, known: NodeJS.ProcessEnv): string {
  const single = /^'([^']*)'/.exec(value);
  if (single) return single[1];
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(value);
  const raw = double
    ? double[1].replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c))
    : value.replace(/(^|\s+)#.*$/, '');
  return raw.replace(/\$\{(\w+)\}/g, (_, name: string) => known[name] ?? '');
}
