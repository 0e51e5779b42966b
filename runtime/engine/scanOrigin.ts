import { formatNumber } from '../../src/protocol/numbers';
import type { Pass } from '../../src/protocol/site';
import { silu } from '../kernels/activation';
import type { Op } from '../program/op';
import type { Tensor } from '../tensor/tensor';
import type { Execution } from './execution';
import { OpenScan } from './openScan';

/** Where inside a scan something bad begins, in the order in which the run goes through time. */
export interface ScanOrigin {
  readonly t: number;
  /** Batch element, channel and state, as far as the quantity has them. */
  readonly b?: number;
  readonly d?: number;
  readonly n?: number;
  /** What is bad there, e.g. `written`. */
  readonly quantity: string;
  /** How it came about: `written = delta_t B_t u_t is Inf, from delta_t 0.1, B_t 1e30, u_t 1e10`. */
  readonly text: string;
}

/** Indices by axis. */
type Index = Partial<Record<'B' | 'D' | 'N', number>>;
type Axis = keyof Index;

/** Something that a time step computes. */
interface Quantity {
  readonly name: string;
  readonly formula: string;
  /** What it is computed from, by name; over axes that it does not have the largest counts. */
  readonly from: readonly string[];
  /** Set for what the recurrence does not hold itself: the product of `from`. */
  readonly axes?: readonly Axis[];
  readonly of?: (factors: readonly number[]) => number;
}

const product = (factors: readonly number[]) => factors.reduce((p, x) => p * x, 1);

/** The order in which a step computes them: the first bad one is the cause of the others. */
const QUANTITIES: Record<Pass, readonly Quantity[]> = {
  forward: [
    { name: 'decay', formula: 'exp(delta_t A)', from: ['delta_t', 'A'] },
    { name: 'kept', formula: 'decay h_(t-1)', from: ['decay'] },
    { name: 'written', formula: 'delta_t B_t u_t', from: ['delta_t', 'B_t', 'u_t'] },
    { name: 'h', formula: 'kept + written', from: ['kept', 'written'] },
    { name: 'C h', formula: 'C_t h', from: ['C_t', 'h'], axes: ['B', 'D', 'N'], of: product },
    { name: 'D u', formula: 'D u_t', from: ['D', 'u_t'], axes: ['B', 'D'], of: product },
    { name: 'z gate', formula: 'silu(z_t)', from: ['z_t'], axes: ['B', 'D'], of: ([z]) => silu(z) },
    { name: 'y', formula: '(C_t h + D u_t) silu(z_t)', from: ['C_t', 'h', 'D', 'u_t', 'z_t'] },
  ],
  backward: [
    { name: 'h', formula: 'exp(delta_t A) h_(t-1) + delta_t B_t u_t', from: ['h_prev', 'decay', 'written'] },
    { name: 'ds', formula: 'dy_t silu(z_t)', from: ['dy_t', 'z_t'] },
    { name: 'C ds', formula: 'C_t ds_t', from: ['C_t', 'ds_t'], axes: ['B', 'D', 'N'], of: product },
    { name: 'dh', formula: 'C_t ds_t + dh_next', from: ['C_t', 'ds_t', 'dh_next'] },
    { name: 'ddecay', formula: 'dh h_(t-1)', from: ['dh', 'h_prev'] },
    { name: 'dh_prev', formula: 'decay dh', from: ['decay', 'dh'] },
    { name: 'du', formula: 'D ds_t + sum of delta_t B_t dh', from: ['D', 'ds_t', 'delta_t', 'B_t', 'dh'] },
    {
      name: 'ddelta',
      formula: 'sum of ddecay decay A + dh B_t u_t',
      from: ['ddecay', 'decay', 'A', 'dh', 'B_t', 'u_t'],
    },
    {
      name: 'dz',
      formula: "dy_t silu'(z_t) (C_t h + D u_t)",
      from: ['dy_t', 'z_t', 'C_t', 'h', 'D', 'u_t'],
    },
    { name: 'dB', formula: 'sum of dh delta_t u_t', from: ['dh', 'delta_t', 'u_t'] },
    { name: 'dC', formula: 'sum of ds_t h', from: ['ds_t', 'h'] },
    { name: 'dA', formula: 'sum of ddecay decay delta_t', from: ['ddecay', 'decay', 'delta_t'] },
    { name: 'dD', formula: 'sum of ds_t u_t', from: ['ds_t', 'u_t'] },
  ],
};

const AXES: Record<string, readonly Axis[]> = {
  ...named(['B', 'D'], 'u_t delta_t z_t y_t dy_t ds_t du_t ddelta_t dz_t'),
  ...named(['B', 'N'], 'B_t C_t dB_t dC_t'),
  ...named(['B', 'D', 'N'], 'decay kept written h h_prev dh dh_next dh_prev ddecay'),
  ...named(['D', 'N'], 'A dA'),
  ...named(['D'], 'D dD'),
};

function named(axes: readonly Axis[], names: string): Record<string, readonly Axis[]> {
  return Object.fromEntries(names.split(' ').map((name) => [name, axes]));
}

/**
 * Replays a scan, or its gradient, step by step until something is bad, and says what and where. Undefined when the
 * float32 recurrence stays healthy, e.g. where only the kernel's own rounding is at fault.
 */
export function findScanOrigin(
  op: Op,
  execution: Execution,
  isBad: (x: number) => boolean,
): ScanOrigin | undefined {
  const scan = new OpenScan(op, execution);
  const { A, D } = execution.tensors(op.inputs);
  for (let t: number | undefined = scan.first; t !== undefined; t = scan.next) {
    scan.seek(t);
    const step = new Step(new Map([...scan.tensors(), ['A', A], ...(D ? [['D', D] as const] : [])]));
    for (const quantity of QUANTITIES[scan.pass]) {
      const at = step.firstBad(quantity, isBad);
      if (at)
        return { t, b: at.B, d: at.D, n: at.N, quantity: quantity.name, text: step.explain(quantity, at) };
    }
  }
  return undefined;
}

/** The tensors of one time step by name. */
class Step {
  constructor(private readonly tensors: ReadonlyMap<string, Tensor>) {}

  firstBad(quantity: Quantity, isBad: (x: number) => boolean): Index | undefined {
    if (quantity.of) return this.firstBadProduct(quantity, isBad);
    const name = this.held(quantity);
    const tensor = this.tensors.get(name);
    const k = tensor ? tensor.toArray().findIndex(isBad) : -1;
    return k < 0 ? undefined : indexOf(AXES[name], tensor!.indexOf(k));
  }

  private firstBadProduct({ axes, from, of }: Quantity, isBad: (x: number) => boolean): Index | undefined {
    if (from.some((name) => !this.tensors.has(name))) return undefined;
    for (const at of this.indices(axes!)) {
      if (isBad(Math.fround(of!(from.map((name) => this.at(name, at)))))) return at;
    }
    return undefined;
  }

  /** The name under which the step holds a quantity. */
  private held({ name }: Quantity): string {
    return this.tensors.has(`${name}_t`) ? `${name}_t` : name;
  }

  private at(name: string, at: Index): number {
    return this.tensors.get(name)!.at(...AXES[name].map((axis) => at[axis]!));
  }

  private *indices(axes: readonly Axis[], at: Index = {}): Generator<Index> {
    const [axis, ...rest] = axes;
    if (!axis) yield at;
    else for (let i = 0; i < this.size(axis); i++) yield* this.indices(rest, { ...at, [axis]: i });
  }

  private size(axis: Axis): number {
    return this.tensors.get('decay')!.shape[{ B: 0, D: 1, N: 2 }[axis]];
  }

  explain(quantity: Quantity, at: Index): string {
    const { name, formula, from, of } = quantity;
    const values = from.filter((factor) => this.tensors.has(factor));
    const words = values.map((factor) => `${factor} ${formatNumber(this.largest(factor, at))}`);
    const value = of ? of(from.map((factor) => this.at(factor, at))) : this.at(this.held(quantity), at);
    const head = of ? formula : `${name} = ${formula}`;
    return `${head} is ${formatNumber(Math.fround(value))}, from ${words.join(', ')}`;
  }

  /** The value at an index; over axes that the index does not have, the one of the largest magnitude or NaN. */
  private largest(name: string, at: Index): number {
    const open = AXES[name].filter((axis) => at[axis] === undefined);
    let largest = 0;
    for (const index of this.indices(open, at)) {
      const x = this.at(name, index);
      if (Number.isNaN(x)) return x;
      if (Math.abs(x) >= Math.abs(largest)) largest = x;
    }
    return largest;
  }
}

function indexOf(axes: readonly Axis[], index: readonly number[]): Index {
  return Object.fromEntries(axes.map((axis, i) => [axis, index[i]]));
}
