import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Execution } from '../../../runtime/engine/execution';
import { deriveBackward } from '../../../runtime/program/backward';
import type { Program } from '../../../runtime/program/program';
import { fixture, readFixture } from '../fixtures';
import { buildVimLoss, distance, filledByRule, manifest, moments, uniform, VIM_TINY } from '../goldenModels';
import { readWhole, relative } from './golden';

interface Both {
  forward: Program;
  backward: Program;
  run: Execution;
}

/** Runs a model forward and backward; `weight` gives each parameter's data. */
function train(
  args: Record<string, unknown>,
  shape: readonly number[],
  input: Float32Array,
  labels: Float32Array,
  weight: (name: string, shape: readonly number[]) => Float32Array,
): Both {
  const forward = buildVimLoss(args, shape);
  const backward = deriveBackward(forward, forward.outputs['loss']);
  const run = new Execution(backward);
  for (const p of forward.parameters) run.fill(p.value, weight(p.name, p.value.shape));
  run.fill(forward.inputs['input'], input);
  run.fill(forward.inputs['labels'], labels);
  run.runAll(forward);
  run.runAll();
  return { forward, backward, run };
}

const loss = ({ run, forward }: Both) => run.tensor(forward.outputs['loss']).toArray();
const gradient = ({ run, backward }: Both, name: string) =>
  run.tensor(backward.gradients.get(name)!).toArray();

describe.each(Object.keys(manifest))('%s', (name) => {
  it('has the loss and every gradient of the original', async () => {
    const [weights, golden] = await Promise.all([
      readFixture(`golden/${name}.weights.safetensors`),
      readFixture(`golden/${name}.golden.safetensors`),
    ]);
    const { config } = manifest[name];
    const { shape, data } = golden['input'];
    const both = train(
      config,
      shape,
      data,
      readWhole(`golden/${name}.golden.safetensors`, 'labels'),
      (key) => weights[key].data,
    );
    expect(distance(loss(both), golden['loss'].data)).toBeLessThan(1);

    const { gradients } = both.backward;
    const expected = Object.keys(golden).filter((key) => key.startsWith('grad.'));
    expect([...gradients.keys()].map((key) => `grad.${key}`).sort()).toEqual(expected.sort());
    for (const [key, value] of gradients) {
      const wanted = golden[`grad.${key}`];
      expect(value.shape, key).toEqual(wanted.shape);
      expect(distance(gradient(both, key), wanted.data), key).toBeLessThan(1);
      expect(relative(gradient(both, key), wanted.data), key).toBeLessThan(2e-5);
    }
  });
});

describe('vim_tiny_full', () => {
  it('has the loss and the gradients of the original at full size', async () => {
    const golden = await readFixture('golden/vim_tiny_full.golden.safetensors');
    const listed = JSON.parse(readFileSync(fixture('golden/vim_tiny_full.json'), 'utf8'));
    const input = uniform('input', 3 * 224 * 224, 2, 0);
    const both = train(VIM_TINY, [1, 3, 224, 224], input, Float32Array.of(281), filledByRule);
    expect(distance(loss(both), golden['loss'].data)).toBeLessThan(1);

    const order = listed.grad_norms_order as string[];
    expect([...both.backward.gradients.keys()].sort()).toEqual([...order, 'input'].sort());
    order.forEach((name, i) => {
      const wanted = golden['grad_norms'].data[i];
      expect(Math.abs(norm(gradient(both, name)) / wanted - 1), name).toBeLessThan(2e-5);
    });
    const stats = Float32Array.from(moments(gradient(both, 'input')));
    expect(distance(stats, golden['grad.input_stats'].data)).toBeLessThan(1);
    expect(relative(stats, golden['grad.input_stats'].data)).toBeLessThan(2e-5);
  }, 120_000);
});

function norm(x: Float32Array): number {
  return Math.sqrt(x.reduce((sum, v) => sum + v * v, 0));
}
