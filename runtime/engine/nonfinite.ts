import { formatCount } from '../../src/protocol/numbers';
import { formatSite } from '../../src/protocol/site';
import { countNonFinite } from '../kernels/summary';
import type { Op } from '../program/op';
import type { Tensor } from '../tensor/tensor';
import type { RunState } from './state';

export type NonFiniteFilter = 'nan' | 'inf';

/** A NaN or Inf that an op made. */
export interface NonFiniteFinding {
  filter: NonFiniteFilter;
  /** One line: which tensor, how many, the first index. */
  text: string;
  /** Whether it was born here or came in with an input, and from where. */
  details: string;
}

interface Bad {
  name: string;
  count: number;
  first: string;
}

/**
 * After an op: the NaN or Inf that it produced. What its inputs brought along is not reported again, unless they
 * are parameters, which no op before has computed.
 */
export function findNonFinite(
  state: RunState,
  op: Op,
  filters: ReadonlySet<NonFiniteFilter>,
): NonFiniteFinding | undefined {
  for (const filter of filters) {
    const outputs = badTensors(state, op.outputs, filter);
    if (outputs.length === 0) continue;
    const computed = Object.fromEntries(
      Object.entries(op.inputs).filter(([, v]) => v.origin !== 'parameter'),
    );
    if (badTensors(state, computed, filter).length > 0) continue;
    const parameters = Object.fromEntries(
      Object.entries(op.inputs).filter(([, v]) => v.origin === 'parameter'),
    );
    return describe(op, filter, outputs[0], badTensors(state, parameters, filter)[0]);
  }
  return undefined;
}

function badTensors(state: RunState, values: Op['inputs'], filter: NonFiniteFilter): Bad[] {
  return Object.entries(values).flatMap(([role, value]) => {
    const tensor = state.execution.tensor(value);
    const found = countNonFinite(tensor);
    const count = filter === 'nan' ? found.nan : found.posInf + found.negInf;
    if (count === 0) return [];
    const name = value.origin === 'parameter' ? value.name : role;
    return [{ name, count, first: indexText(firstBad(tensor, filter), value.axes) }];
  });
}

function firstBad(tensor: Tensor, filter: NonFiniteFilter): number[] {
  const data = tensor.toArray();
  const at = data.findIndex((x) => (filter === 'nan' ? Number.isNaN(x) : Math.abs(x) === Infinity));
  return tensor.indexOf(at);
}

function indexText(index: readonly number[], axes: readonly string[]): string {
  return `[${index.map((i, axis) => (axes[axis] ? `${axes[axis]} ${i}` : String(i))).join(', ')}]`;
}

function describe(
  op: Op,
  filter: NonFiniteFilter,
  output: Bad,
  parameter: Bad | undefined,
): NonFiniteFinding {
  const what = filter === 'nan' ? 'NaN' : 'Inf';
  const site = formatSite({ module: op.module, op: op.kind.name, direction: op.direction });
  const text = `${site}: ${output.name} has ${formatCount(output.count)} ${what}, first at ${output.first}`;
  const origin = parameter
    ? `It comes from the parameter ${parameter.name}, which holds ${formatCount(parameter.count)} ${what}, first at ${parameter.first}.`
    : `It was born here: all inputs of the op are free of ${what}.`;
  return { filter, text, details: `${text}. ${origin}` };
}
