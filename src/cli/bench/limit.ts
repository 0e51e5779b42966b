import type { Op } from '../../../runtime/program/op';
import type { Program } from '../../../runtime/program/program';
import { numel } from '../../../runtime/tensor/tensor';

/** Multiply-adds of one state in one step of a scan: ten for exp(delta A), two for h and y. */
export const PER_STATE = 12;

/** Floating-point operations of the matrix products and scans of a pass, which no layout or fusion can avoid. */
export function operations(program: Program, pass: 'forward' | 'backward'): number {
  const forward = program.ops.filter((op) => (op.pass ?? 'forward') === 'forward');
  return forward.reduce((sum, op) => sum + (pass === 'forward' ? ofOp(op) : ofGradient(op)), 0);
}

function ofOp({ kind, inputs, outputs }: Op): number {
  if (kind.name === 'selective_scan') return 2 * PER_STATE * numel(inputs['u'].shape) * inputs['A'].shape[1];
  const { weight } = inputs;
  if (!weight || !['linear', 'project', 'patch_embed'].includes(kind.name)) return 0;
  return 2 * numel(outputs['y'].shape) * numel(weight.shape.slice(1));
}

/** A product has two gradients, each as large; of a scan only the recomputation of its states is counted. */
function ofGradient(op: Op): number {
  return op.kind.name === 'selective_scan' ? ofOp(op) : 2 * ofOp(op);
}
