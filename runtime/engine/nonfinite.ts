import { formatCount, formatNumber } from '../../src/protocol/numbers';
import { countNonFinite, summarize } from '../kernels/summary';
import type { Op } from '../program/op';
import type { Tensor } from '../tensor/tensor';
import { type Finding, TITLES } from './finding';
import { siteText } from './frames';
import type { RunState } from './state';

type NonFinite = 'nan' | 'inf';

interface Bad {
  name: string;
  count: number;
  first: string;
}

/**
 * After the op at the current position: the NaN or Inf that it produced. What its inputs brought along is not
 * reported again, unless they are parameters, which no op before has computed.
 */
export function findNonFinite(state: RunState, op: Op, filters: ReadonlySet<string>): Finding | undefined {
  for (const filter of ['nan', 'inf'] as const) {
    if (!filters.has(filter)) continue;
    const outputs = badTensors(state, op.outputs, filter);
    if (outputs.length === 0) continue;
    const computed = Object.fromEntries(
      Object.entries(op.inputs).filter(([, v]) => v.origin !== 'parameter'),
    );
    if (badTensors(state, computed, filter).length > 0) continue;
    const parameters = Object.fromEntries(
      Object.entries(op.inputs).filter(([, v]) => v.origin === 'parameter'),
    );
    return describe(state, filter, outputs[0], badTensors(state, parameters, filter)[0]);
  }
  return undefined;
}

function badTensors(state: RunState, values: Op['inputs'], filter: NonFinite): Bad[] {
  return Object.entries(values).flatMap(([role, value]) => {
    const tensor = state.execution.tensor(value);
    const found = countNonFinite(tensor);
    const count = filter === 'nan' ? found.nan : found.posInf + found.negInf;
    if (count === 0) return [];
    const name = value.origin === 'parameter' ? value.name : role;
    return [{ name, count, first: indexText(firstBad(tensor, filter), value.axes) }];
  });
}

function firstBad(tensor: Tensor, filter: NonFinite): number[] {
  const data = tensor.toArray();
  const at = data.findIndex((x) => (filter === 'nan' ? Number.isNaN(x) : Math.abs(x) === Infinity));
  return tensor.indexOf(at);
}

function indexText(index: readonly number[], axes: readonly string[]): string {
  return `[${index.map((i, axis) => (axes[axis] ? `${axes[axis]} ${i}` : String(i))).join(', ')}]`;
}

function describe(state: RunState, filter: NonFinite, output: Bad, parameter: Bad | undefined): Finding {
  const what = filter === 'nan' ? 'NaN' : 'Inf';
  const text = `${siteText(state)}: ${output.name} has ${formatCount(output.count)} ${what}, first at ${output.first}`;
  const origin = parameter
    ? `It comes from the parameter ${parameter.name}, which holds ${formatCount(parameter.count)} ${what}, first at ${parameter.first}.`
    : `It was born here: all inputs of the op are free of ${what}.`;
  return { filter, title: TITLES[filter], text, details: `${text}. ${origin}${runUp(state)}` };
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
    return `${op.name} ${formatNumber(summarize(state.execution.tensor(value), { bins: 1 }).absmax ?? Number.NaN)}`;
  });
  return words.length > 0 ? ` Largest magnitudes before it: ${words.join(', ')}.` : '';
}
