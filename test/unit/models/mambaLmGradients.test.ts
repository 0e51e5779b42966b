import { expect, it } from 'vitest';
import { openCheckpoint } from '../../../runtime/checkpoint';
import { Execution } from '../../../runtime/engine/execution';
import { mambaLm } from '../../../runtime/models/mambaLm';
import { mambaLmConfig } from '../../../runtime/models/mambaLmConfig';
import { trainingStep } from '../../../runtime/program/backward';
import { ModelBuilder } from '../../../runtime/program/modelBuilder';
import type { Program } from '../../../runtime/program/program';
import { readFixture } from '../fixtures';
import { distance, readJson, SMALL, smallFile } from './mambaLmSamples';

function buildStep(shape: readonly number[]): Program {
  const config = mambaLmConfig(readJson(SMALL));
  const p = new ModelBuilder();
  const program = p.build('small', 'MambaLM', () => {
    const output = mambaLm(p, p.input('input_ids', shape, ['B', 'L']), config);
    return { output, loss: p.crossEntropy(output, p.input('targets', shape, ['B', 'L'])) };
  });
  return trainingStep(program, program.outputs['loss']);
}

it('the loss and every gradient agree with the original; the tied table gets both of its parts', async () => {
  const golden = await readFixture('golden/mamba_lm_small.golden.safetensors');
  const given = (await openCheckpoint(smallFile('golden.safetensors'))).entries;
  const weights = (await openCheckpoint(smallFile('weights.safetensors'))).entries;
  const program = buildStep(given.get('input_ids')!.shape);
  const run = new Execution(program);
  for (const { name, value } of program.parameters) run.fill(value, weights.get(name)!.load().toArray());
  for (const [name, value] of Object.entries(program.inputs))
    run.fill(value, given.get(name)!.load().toArray());
  run.runAll();
  expect(distance(run.tensor(program.outputs['loss']).toArray(), golden['loss'].data)).toBeLessThan(1);
  const expected = Object.keys(golden).filter((key) => key.startsWith('grad.'));
  expect([...program.gradients.keys()].map((name) => `grad.${name}`).sort()).toEqual(expected.sort());
  for (const key of expected) {
    const gradient = run.tensor(program.gradients.get(key.slice('grad.'.length))!);
    expect(distance(gradient.toArray(), golden[key].data), key).toBeLessThan(1);
  }
});
