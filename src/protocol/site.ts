/**
 * A site says where in a model something happens. One type and one text form, used by breakpoints, stops,
 * views and logs: `layers.3.mixer:selective_scan backward t=57 d=12 n=3 grad #2`.
 */

export type Direction = 'forward' | 'backward';

/** The pass of training: `forward` computes the loss, `backward` its gradients. */
export type Pass = 'forward' | 'backward';

export interface Site {
  /** Dotted module path as in the checkpoint's keys; empty for the model itself. */
  module: string;
  /** Name of the op or boundary, e.g. `selective_scan`; absent when the site is the module itself. */
  op?: string;
  /** Direction of the scan along the sequence. */
  direction?: Direction;
  /** Time step inside a scan, from 0. */
  t?: number;
  /** Channel inside a scan (axis D), from 0. */
  d?: number;
  /** State index inside a scan (axis N), from 0. */
  n?: number;
  /** Absent means `forward`. */
  pass?: Pass;
  /** Which call of this site in the run, from 1; absent means the only one. */
  occurrence?: number;
}

/** Stands for the model itself, whose module path is empty. */
const MODEL = '(model)';

export function formatSite(site: Site): string {
  const module = site.module || MODEL;
  const words = [site.op === undefined ? module : `${module}:${site.op}`];
  if (site.direction) words.push(site.direction);
  if (site.t !== undefined) words.push(`t=${site.t}`);
  if (site.d !== undefined) words.push(`d=${site.d}`);
  if (site.n !== undefined) words.push(`n=${site.n}`);
  if (site.pass === 'backward') words.push('grad');
  if (site.occurrence !== undefined) words.push(`#${site.occurrence}`);
  return words.join(' ');
}

/** Reads the text form back. Throws an `Error` with one sentence when a word is not understood. */
export function parseSite(text: string): Site {
  const [path = '', ...words] = text.trim().split(/\s+/);
  const [module, op] = path.split(':', 2);
  const site: Site = { module: module === MODEL ? '' : module };
  if (op !== undefined) site.op = op;
  for (const word of words) applyWord(site, word, text);
  return site;
}

function applyWord(site: Site, word: string, text: string): void {
  const index = /^([tdn])=(\d+)$/.exec(word);
  const occurrence = /^#(\d+)$/.exec(word);
  if (word === 'forward' || word === 'backward') site.direction = word;
  else if (word === 'grad') site.pass = 'backward';
  else if (index) site[index[1] as 't' | 'd' | 'n'] = Number(index[2]);
  else if (occurrence) site.occurrence = Number(occurrence[1]);
  else
    throw new Error(
      `"${word}" in the site "${text}" is not understood; write e.g. layers.3.mixer:selective_scan backward t=57.`,
    );
}

/** The index of the layer that a module path lies in (`layers.3.mixer` -> 3), if any. */
export function layerOf(module: string): number | undefined {
  const match = /(?:^|\.)(?:layers|blocks)\.(\d+)(?:\.|$)/.exec(module);
  return match ? Number(match[1]) : undefined;
}
