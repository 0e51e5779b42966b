import { formatCount, formatNumber } from '../../src/protocol/numbers';
import { formatSite } from '../../src/protocol/site';
import { firstWhere } from '../kernels/nonFinite';
import { absmaxOf, allFinite, statistics } from '../kernels/statistics';
import type { Op } from '../program/op';
import type { Value } from '../program/value';
import type { Tensor } from '../tensor/tensor';
import { type Finding, TITLES } from './finding';
import { siteText } from './frames';
import { levelsAt, siteOf } from './names';
import { isScan } from './openScan';
import { findScanOrigin } from './scanOrigin';
import type { RunState } from './state';

type NonFinite = 'nan' | 'inf';

const WORDS: Record<NonFinite, string> = { nan: 'NaN', inf: 'Inf' };

const IS_BAD: Record<NonFinite, (x: number) => boolean> = {
  nan: Number.isNaN,
  inf: (x) => Math.abs(x) === Number.POSITIVE_INFINITY,
};

/** A tensor with NaN or Inf. */
interface Suspect {
  name: string;
  value: Value;
  tensor: Tensor;
  counts: Record<NonFinite, number>;
}

interface Bad {
  name: string;
  count: number;
  first: string;
}

/**
 * After the op at the current position: the NaN or Inf that it produced. What its inputs brought along is not
 * reported again, unless they are parameters or the model's input, which no op before has computed.
 */
export function findNonFinite(state: RunState, op: Op, filters: ReadonlySet<string>): Finding | undefined {
  if (!filters.has('nan') && !filters.has('inf')) return undefined;
  const outputs = suspectsOf(state, op.outputs);
  if (outputs.length === 0) return undefined;
  const inputs = suspectsOf(state, op.inputs);
  for (const filter of ['nan', 'inf'] as const) {
    const [output] = outputs.filter(({ counts }) => counts[filter] > 0);
    if (!filters.has(filter) || !output) continue;
    const sources = inputs.filter(({ counts }) => counts[filter] > 0);
    if (sources.some(({ value }) => value.origin === 'op')) continue;
    return describe(state, filter, badOf(output, filter), sources[0] && badOf(sources[0], filter));
  }
  return undefined;
}

function suspectsOf(state: RunState, values: Op['inputs']): Suspect[] {
  return Object.entries(values).flatMap(([role, value]) => {
    const tensor = state.execution.tensor(value);
    if (allFinite(tensor)) return [];
    const { nan, posInf, negInf } = statistics(tensor);
    const name = value.origin === 'op' ? role : value.name;
    return [{ name, value, tensor, counts: { nan, inf: posInf + negInf } }];
  });
}

function badOf({ name, value, tensor, counts }: Suspect, filter: NonFinite): Bad {
  const first = firstWhere(tensor, IS_BAD[filter]);
  return { name, count: counts[filter], first: indexText(first ?? [], value.axes) };
}

function indexText(index: readonly number[], axes: readonly string[]): string {
  return `[${index.map((i, axis) => (axes[axis] ? `${axes[axis]} ${i}` : String(i))).join(', ')}]`;
}

function describe(state: RunState, filter: NonFinite, output: Bad, source: Bad | undefined): Finding {
  const what = WORDS[filter];
  const begins = beginningInside(state, filter);
  const born = begins ? `born here in ${begins.short}` : 'born here';
  const from = source ? `from ${source.name} ${source.first}` : born;
  const text = `${siteText(state)}: ${output.name} has ${formatCount(output.count)} ${what}, first at ${output.first}, ${from}`;
  const origin = source
    ? `It comes from the ${kindOfSource(state, source)} ${source.name}, which holds ${formatCount(source.count)} ${what}, first at ${source.first}.`
    : `It was born here: all inputs of the op are free of ${what}.`;
  const details = [`${text}.`, origin, ...(begins ? [begins.sentence] : [])].join(' ');
  return { filter, title: TITLES[filter], text, details: `${details}${runUp(state)}` };
}

function kindOfSource({ program }: RunState, { name }: Bad): string {
  return program.parameter(name) ? 'parameter' : 'input';
}

/** Where in time a scan, or its gradient, has its first NaN or Inf, and which factor brings it. */
function beginningInside(
  state: RunState,
  filter: NonFinite,
): { short: string; sentence: string } | undefined {
  const [level] = levelsAt(state);
  if (!isScan(level.op)) return undefined;
  const origin = findScanOrigin(level.op, state.execution, IS_BAD[filter]);
  if (!origin) return undefined;
  const { t, b, d, n, quantity, text } = origin;
  const site = formatSite({ ...siteOf(level, state.position), t, d, n });
  const batch = b ? ` of batch element ${b}` : '';
  const place = [`t=${t}`, ...(d === undefined ? [] : [`d=${d}`]), ...(n === undefined ? [] : [`n=${n}`])];
  return {
    short: `${quantity} at ${place.join(' ')}${batch}`,
    sentence: `Inside the scan it begins at ${site}${batch}: ${text}.`,
  };
}

/** How many ops before are looked back at. */
const RUN_UP = 5;

/** The largest magnitude that each of the ops before gave, the nearest last: growth shows here first. */
function runUp(state: RunState): string {
  const before = state.program.events
    .slice(0, state.position.event)
    .flatMap((e) => (e.kind === 'op' && !e.op.kind.view ? [e.op] : []));
  const words = before.slice(-RUN_UP).map((op) => {
    const [value] = Object.values(op.outputs);
    const s = statistics(state.execution.tensor(value));
    return `${op.name} ${formatNumber(s.count > 0 ? absmaxOf(s) : Number.NaN)}`;
  });
  return words.length > 0 ? ` Largest magnitudes before it: ${words.join(', ')}.` : '';
}
