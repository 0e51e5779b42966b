import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Execution } from '../../../runtime/engine/execution';
import { mambaLm } from '../../../runtime/models/mambaLm';
import { mambaLmConfig } from '../../../runtime/models/mambaLmConfig';
import { deriveBackward } from '../../../runtime/program/backward';
import { ModelBuilder } from '../../../runtime/program/modelBuilder';
import { fixture, readFixture } from '../fixtures';
import { distance } from '../goldenModels';
import { readWhole, relative } from './golden';

const GOLDEN = 'golden/mamba_lm_small.golden.safetensors';

it('the small language model has the loss and every gradient of the original', async () => {
  const [weights, golden] = await Promise.all([
    readFixture('golden/mamba_lm_small.weights.safetensors'),
    readFixture(GOLDEN),
  ]);
  const config = mambaLmConfig(
    JSON.parse(readFileSync(fixture('golden/mamba_lm_small.config.json'), 'utf8')),
  );
  const tokens = golden['logits'].shape.slice(0, 2);
  const p = new ModelBuilder();
  const forward = p.build('lm', 'Mamba', () => {
    const output = mambaLm(p, p.input('ids', tokens), config);
    return { output, loss: p.crossEntropy(output, p.input('targets', tokens)) };
  });
  const backward = deriveBackward(forward, forward.outputs['loss']);
  const run = new Execution(backward);
  for (const { name, value } of forward.parameters) run.fill(value, weights[name].data);
  run.fill(forward.inputs['ids'], readWhole(GOLDEN, 'input_ids'));
  run.fill(forward.inputs['targets'], readWhole(GOLDEN, 'targets'));
  run.runAll(forward);
  run.runAll();
  const at = (value = forward.outputs['loss']) => run.tensor(value).toArray();
  expect(distance(at(), golden['loss'].data)).toBeLessThan(1);
  const expected = Object.keys(golden).filter((key) => key.startsWith('grad.'));
  expect([...backward.gradients.keys()].map((key) => `grad.${key}`).sort()).toEqual(expected.sort());
  for (const [key, value] of backward.gradients) {
    expect(distance(at(value), golden[`grad.${key}`].data), key).toBeLessThan(1);
    expect(relative(at(value), golden[`grad.${key}`].data), key).toBeLessThan(2e-5);
  }
});
