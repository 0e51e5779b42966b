import { writeFileSync } from 'node:fs';
import { writeSafetensors } from '../../runtime/checkpoint';
import type { RunState } from '../../runtime/engine/state';
import type { ScanTensors } from '../../runtime/kernels/selectiveScan';
import { Recurrence } from '../../runtime/models/recurrence';
import type { Op } from '../../runtime/program/op';
import { Tensor } from '../../runtime/tensor/tensor';

/**
 * Writes a finished run under the names of the original implementation's tensors: inputs, `logits`, `loss`,
 * `layers.K.hidden_states` and `.residual`, `scan.I.*` in the order of execution (`delta` before bias and softplus,
 * `out` after skip and gate), and `grad.*`.
 */
export function saveRun(state: RunState, path: string): void {
  writeFileSync(path, writeSafetensors(runTensors(state)));
}

function* runTensors(state: RunState): Generator<[string, Tensor]> {
  const { program, execution } = state;
  for (const [name, value] of Object.entries(program.inputs)) yield [name, execution.tensor(value)];
  const [answer] = Object.values(program.outputs);
  yield ['logits', execution.tensor(answer)];
  const { loss } = program.outputs;
  if (loss) yield ['loss', new Tensor(execution.tensor(loss).toArray(), [1])];
  for (const { kind, path, outputs } of program.scopes) {
    if (kind !== 'Block' || !outputs['residual']) continue;
    yield [`${path}.hidden_states`, execution.tensor(outputs['hidden'])];
    yield [`${path}.residual`, execution.tensor(outputs['residual'])];
  }
  const scans = program.ops.filter((op) => op.kind.name === 'selective_scan');
  for (const [i, op] of scans.entries()) yield* scanTensors(state, op, `scan.${i}`);
  for (const [name, value] of program.gradients) yield [`grad.${name}`, execution.tensor(value)];
}

function* scanTensors(state: RunState, op: Op, prefix: string): Generator<[string, Tensor]> {
  const { u, delta, A, B, C, D, z } = state.execution.tensors(op.inputs) as unknown as ScanTensors;
  for (const [name, tensor] of Object.entries({ u, A, B, C, D, z }))
    if (tensor) yield [`${prefix}.${name}`, tensor];
  const bias = stepBias(state, op);
  yield [`${prefix}.delta`, beforeSoftplus(delta, bias)];
  if (bias) yield [`${prefix}.delta_bias`, bias];
  yield [`${prefix}.out`, state.execution.tensor(op.outputs['y'])];
  const recurrence = new Recurrence({ u, delta, A, B, C, D, z });
  recurrence.seek(recurrence.length - 1);
  yield [`${prefix}.last_state`, recurrence.h];
}

/** The bias of the projection that made delta: the backward direction's own where it has one. */
function stepBias(state: RunState, op: Op): Tensor | undefined {
  const own =
    op.direction === 'backward' ? state.program.parameter(`${op.module}.dt_proj_b.bias`) : undefined;
  const parameter = own ?? state.program.parameter(`${op.module}.dt_proj.bias`);
  return parameter && state.execution.tensor(parameter.value);
}

/** delta (B, D, L) as it was before bias (D) and softplus: the inverse, exact to float32. */
function beforeSoftplus(delta: Tensor, bias: Tensor | undefined): Tensor {
  const values = delta.toArray();
  const [, channels, length] = delta.shape;
  const raw = values.map((x, i) => {
    const before = x > 20 ? x : Math.log(Math.expm1(x));
    return before - (bias ? bias.at(Math.floor(i / length) % channels) : 0);
  });
  return new Tensor(raw, delta.shape);
}
