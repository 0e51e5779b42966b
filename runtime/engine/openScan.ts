import type { Pass } from '../../src/protocol/site';
import type { ScanTensors } from '../kernels/selectiveScan';
import { atTime, RECURRENCE, Recurrence } from '../models/recurrence';
import { RECURRENCE_BACKWARD, RecurrenceBackward } from '../models/recurrenceBackward';
import type { Op } from '../program/op';
import type { Tensor } from '../tensor/tensor';
import type { Execution } from './execution';
import { kindOf } from './names';

/** Where the recurrence of each pass stands in the source. */
export const RECURRENCES = { forward: RECURRENCE, backward: RECURRENCE_BACKWARD } as const;

/** Names of the tensors of a time step, for conditions that are checked before anything runs. */
export const STEP_NAMES: Record<Pass, readonly string[]> = {
  forward: ['h', 'u_t', 'delta_t', 'decay', 'kept', 'written', 'B_t', 'C_t', 'z_t', 'y_t'],
  backward: [
    ...[
      'dh',
      'dh_next',
      'dh_prev',
      'ddecay',
      'dy_t',
      'ds_t',
      'du_t',
      'ddelta_t',
      'dB_t',
      'dC_t',
      'dz_t',
      'dA',
      'dD',
    ],
    ...['h', 'h_prev', 'decay', 'written', 'u_t', 'delta_t', 'B_t', 'C_t', 'z_t'],
  ],
};

/** How far a step is from what the kernel gave: the largest |difference|, beside the largest magnitude. */
export interface StepDifference {
  readonly name: string;
  readonly difference: number;
  readonly scale: number;
}

export function isScan(op: Op | undefined): op is Op {
  return op !== undefined && kindOf(op) === 'selective_scan';
}

/** A selective scan, or its gradient, that is gone through step by step. */
export class OpenScan {
  readonly pass: Pass;
  private readonly steps: Recurrence | RecurrenceBackward;

  constructor(
    private readonly op: Op,
    private readonly execution: Execution,
  ) {
    this.pass = op.pass ?? 'forward';
    const { dy, ...inputs } = execution.tensors(op.inputs);
    const scan = inputs as unknown as ScanTensors;
    this.steps = this.pass === 'backward' ? new RecurrenceBackward(scan, dy) : new Recurrence(scan);
  }

  get t(): number {
    return this.steps.t;
  }

  /** The step that the run comes to first: the last one in time, going backward. */
  get first(): number {
    return this.pass === 'backward' ? this.steps.length - 1 : 0;
  }

  get last(): number {
    return this.pass === 'backward' ? 0 : this.steps.length - 1;
  }

  /** The step after this one in the order of the run; none at the end. */
  get next(): number | undefined {
    if (this.t === this.last) return undefined;
    return this.pass === 'backward' ? this.t - 1 : this.t + 1;
  }

  get previous(): number | undefined {
    if (this.t === this.first) return undefined;
    return this.pass === 'backward' ? this.t + 1 : this.t - 1;
  }

  seek(t: number): void {
    this.steps.seek(t);
  }

  tensors(): [name: string, tensor: Tensor][] {
    return Object.entries(this.steps.tensors()).flatMap(([name, tensor]) => (tensor ? [[name, tensor]] : []));
  }

  /** Where this step is furthest from the kernel's result, relative to its size. */
  difference(): StepDifference {
    const all = Object.entries(this.results()).flatMap(([role, own]): StepDifference[] => {
      const value = this.op.outputs[role];
      if (!value || !own) return [];
      if (!this.execution.has(value)) this.execution.run(this.op);
      const kernel = this.execution.tensor(value);
      const there = own.shape.length < kernel.rank ? atTime(kernel, this.t) : kernel;
      return [{ name: role, ...compare(own, there) }];
    });
    const relative = ({ difference, scale }: StepDifference) => (difference === 0 ? 0 : difference / scale);
    return all.reduce((worst, one) => (relative(one) > relative(worst) ? one : worst));
  }

  /** This step's results by the names of the op's outputs; sums over time are complete at the last step only. */
  private results(): Record<string, Tensor | undefined> {
    const { steps } = this;
    if (steps instanceof Recurrence) return { y: steps.y };
    const { du, ddelta, dB, dC, dz, dA, dD } = steps;
    return { du, ddelta, dB, dC, dz, ...(this.t === this.last ? { dA, dD } : {}) };
  }
}

function compare(own: Tensor, kernel: Tensor): { difference: number; scale: number } {
  const [a, b] = [own.toArray(), kernel.toArray()];
  let [difference, scale] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    difference = Math.max(difference, Math.abs(a[i] - b[i]));
    scale = Math.max(scale, Math.abs(a[i]));
  }
  return { difference, scale };
}
