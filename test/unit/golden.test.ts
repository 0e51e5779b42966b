import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Execution } from '../../runtime/engine/execution';
import { softplus } from '../../runtime/kernels/activation';
import { fixture, readFixture } from './fixtures';
import { buildVim, distance, filledByRule, manifest, moments, uniform, VIM_TINY } from './goldenModels';

type Arrays = Awaited<ReturnType<typeof readFixture>>;

/** The original's delta is before bias and softplus; ours is the paper's. */
function paperDelta(golden: Arrays, scan: string): Float32Array {
  const { data, shape } = golden[`${scan}.delta`];
  const bias = golden[`${scan}.delta_bias`].data;
  return data.map((x, i) => softplus(x + bias[Math.floor(i / shape[2]) % shape[1]]));
}

describe.each(Object.keys(manifest))('%s', (name) => {
  it('agrees with the original at every scan boundary, every layer and the logits', async () => {
    const { config, scan_calls_in_order } = manifest[name];
    const [weights, golden] = await Promise.all([
      readFixture(`golden/${name}.weights.safetensors`),
      readFixture(`golden/${name}.golden.safetensors`),
    ]);
    const program = buildVim(config, golden['input'].shape);
    expect(program.parameters.map((p) => p.name).sort()).toEqual(Object.keys(weights).sort());
    const run = new Execution(program);
    for (const p of program.parameters) run.fill(p.value, weights[p.name].data);
    run.fill(program.inputs['input'], golden['input'].data);
    run.runAll();
    const at = (tensor: { toArray(): Float32Array }, key: string) =>
      expect(distance(tensor.toArray(), golden[key].data), key).toBeLessThan(1);

    const scans = program.ops.filter((op) => op.kind.name === 'selective_scan');
    expect(scans.length).toBe(scan_calls_in_order);
    scans.forEach((op, i) => {
      const t = run.tensors({ ...op.inputs, ...op.outputs });
      for (const role of ['u', 'A', 'B', 'C', 'D', 'z']) at(t[role], `scan.${i}.${role}`);
      expect(distance(t['delta'].toArray(), paperDelta(golden, `scan.${i}`)), `scan.${i}.delta`).toBeLessThan(
        1,
      );
      at(t['y'], `scan.${i}.out`);
    });
    const blocks = program.scopes.filter((s) => s.kind === 'Block');
    for (const scope of blocks) {
      const t = run.tensors(scope.outputs);
      at(t['hidden'], `${scope.path}.hidden_states`);
      at(t['residual'], `${scope.path}.residual`);
    }
    at(run.tensor(program.outputs['output']), 'logits');
  });
});

describe('vim_tiny_full', () => {
  it('agrees with the original at full size', async () => {
    const golden = await readFixture('golden/vim_tiny_full.golden.safetensors');
    const listed = JSON.parse(readFileSync(fixture('golden/vim_tiny_full.json'), 'utf8'));
    const program = buildVim(VIM_TINY, [1, 3, 224, 224]);
    expect(program.parameterCount).toBe(listed.params);
    const run = new Execution(program);
    for (const p of program.parameters) run.fill(p.value, filledByRule(p.name, p.value.shape));
    for (const [name, first] of Object.entries(listed.first_weights as Record<string, number[]>)) {
      const data = run.tensor(program.parameter(name)!.value).toArray();
      expect([...data.subarray(0, 4)]).toEqual(first);
    }
    run.fill(program.inputs['input'], uniform('input', 3 * 224 * 224, 2, 0));
    run.runAll();
    expect(distance(run.tensor(program.outputs['output']).toArray(), golden['logits'].data)).toBeLessThan(1);
    const blocks = program.scopes.filter((s) => s.kind === 'Block');
    for (const k of [0, 23]) {
      const hidden = run.tensor(blocks[k].outputs['hidden']).toArray();
      expect(distance(hidden, golden[`layers.${k}.hidden_states`].data)).toBeLessThan(1);
    }
    for (const role of ['hidden', 'residual'] as const) {
      const stats = Float32Array.from(blocks.flatMap((s) => moments(run.tensor(s.outputs[role]).toArray())));
      const key = role === 'hidden' ? 'hidden_stats' : 'residual_stats';
      expect(distance(stats, golden[key].data), key).toBeLessThan(1);
    }
  }, 60_000);
});
