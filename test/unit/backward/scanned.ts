import { Debugger, type Stop } from '../../../runtime/engine/debugger';
import type { FilterName } from '../../../runtime/engine/finding';
import { RunState } from '../../../runtime/engine/state';
import { trainingStep } from '../../../runtime/program/backward';
import { ModelBuilder } from '../../../runtime/program/modelBuilder';
import { numel, rowMajor } from '../../../runtime/tensor/tensor';

const [B, D, L, N] = [2, 3, 6, 4];

const SHAPES = {
  u: [B, D, L],
  delta: [B, D, L],
  A: [D, N],
  B: [B, N, L],
  C: [B, N, L],
  D: [D],
  z: [B, D, L],
  dy: [B, D, L],
} as const;

type Name = keyof typeof SHAPES;

/** What differs from healthy values: everywhere, or index, value, index, value, ... */
export type Scan = Partial<Record<Name, number | (number | number[])[]>>;

/** One scan alone, and its gradient: the loss is the sum of dy y. */
export function scanned(changes: Scan): { stop(filter: FilterName): Promise<Stop> } {
  const p = new ModelBuilder();
  const program = p.build('model', 'Model', () => {
    const input = (name: Name) => p.scale(p.input(name, SHAPES[name], axesOf(name)), 1);
    return p.module('scan', 'Scan', {}, () => {
      const skip = p.parameter('D', SHAPES.D, ['D']);
      const [u, delta, A, inB, C, z] = (['u', 'delta', 'A', 'B', 'C', 'z'] as const).map(input);
      const y = p.selectiveScan({ u, delta, A, B: inB, C, D: skip, z });
      return { y, loss: p.sum(p.mul(y, input('dy')), [0, 1, 2]) };
    });
  });
  const state = new RunState(trainingStep(program, program.outputs['loss']), () => undefined);
  for (const [name, value] of Object.entries(program.inputs))
    state.execution.fill(value, dataOf(name as Name, changes));
  for (const { value } of program.parameters) state.execution.fill(value, dataOf('D', changes));
  return {
    async stop(filter) {
      const debug = new Debugger(state, { output() {}, probeFailed() {}, breathe: () => false });
      debug.setFilters([{ filter }]);
      return (await debug.resume('continue'))!;
    },
  };
}

function axesOf(name: Name): string[] {
  if (name === 'A') return ['D', 'N'];
  return ['B', name === 'B' || name === 'C' ? 'N' : 'D', 'L'];
}

function dataOf(name: Name, changes: Scan): Float32Array {
  const shape = SHAPES[name];
  const data = Float32Array.from({ length: numel(shape) }, (_, i) => healthy(name, i));
  const change = changes[name];
  if (typeof change === 'number') data.fill(change);
  if (!Array.isArray(change)) return data;
  for (let i = 0; i < change.length; i += 2) {
    const index = change[i] as number[];
    const strides = rowMajor(shape);
    data[index.reduce((at, k, axis) => at + k * strides[axis], 0)] = change[i + 1] as number;
  }
  return data;
}

function healthy(name: Name, i: number): number {
  const wave = 0.5 + 0.3 * Math.sin(i + name.length);
  return name === 'A' ? -wave : wave;
}
