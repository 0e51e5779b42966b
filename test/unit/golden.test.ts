import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Execution } from '../../runtime/engine/execution';
import { softplus } from '../../runtime/kernels/activation';
import { visionMamba } from '../../runtime/models/vim';
import { vimConfig } from '../../runtime/models/vimConfig';
import { ModelBuilder } from '../../runtime/program/modelBuilder';
import type { Program } from '../../runtime/program/program';
import { fixture, readFixture } from './fixtures';

/** Values of the original implementation (see test/fixtures/golden/README.md). */
const manifest = JSON.parse(readFileSync(fixture('golden/vim_manifest.json'), 'utf8')) as Record<
  string,
  { config: Record<string, unknown>; scan_calls_in_order: number; batch: number }
>;

type Arrays = Awaited<ReturnType<typeof readFixture>>;

function buildVim(args: Record<string, unknown>, shape: readonly number[]): Program {
  const config = vimConfig(args);
  const p = new ModelBuilder();
  return p.build('vim', 'VisionMamba', () =>
    visionMamba(p, p.input('input', shape, ['B', 'C', 'H', 'W']), config),
  );
}

/** The largest difference, in units of the tolerance that float32 supports: 1e-4 x max(1, max |golden|). */
function distance(actual: Float32Array, golden: Float32Array): number {
  expect(actual.length).toBe(golden.length);
  let worst = 0;
  let largest = 1;
  for (let i = 0; i < golden.length; i++) {
    worst = Math.max(worst, Number.isFinite(actual[i]) ? Math.abs(actual[i] - golden[i]) : Infinity);
    largest = Math.max(largest, Math.abs(golden[i]));
  }
  return worst / (1e-4 * largest);
}

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
    const program = buildVim(
      { final_pool_type: 'mean', bimamba_type: 'v2', if_divide_out: true, use_middle_cls_token: true },
      [1, 3, 224, 224],
    );
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

/** [mean, std, min, max], as the golden file lists them per layer. */
function moments(x: Float32Array): number[] {
  const mean = x.reduce((s, v) => s + v, 0) / x.length;
  const variance = x.reduce((s, v) => s + (v - mean) ** 2, 0) / (x.length - 1);
  return [mean, Math.sqrt(variance), x.reduce((m, v) => Math.min(m, v)), x.reduce((m, v) => Math.max(m, v))];
}

/** The rule that the golden README gives for weights, so that no 28 MB file is needed. */
function filledByRule(name: string, shape: readonly number[]): Float32Array {
  const n = shape.reduce((a, b) => a * b, 1);
  if (/A(_b)?_log$/.test(name))
    return Float32Array.from({ length: n }, (_, i) => Math.log((i % shape[1]) + 1));
  if (name === 'pos_embed' || name === 'cls_token') return uniform(name, n, 0.02, 0);
  if (/dt_proj(_b)?\.bias$/.test(name)) return uniform(name, n, 1, -4);
  if (/\.D(_b)?$/.test(name) || /norm(_f)?\.weight$/.test(name)) return uniform(name, n, 0.1, 1);
  if (name.endsWith('bias')) return uniform(name, n, 0.05, 0);
  return uniform(name, n, 1 / Math.sqrt(n / shape[0]), 0);
}

function uniform(name: string, n: number, scale: number, offset: number): Float32Array {
  let s = 0;
  for (const byte of new TextEncoder().encode(name)) s = (Math.imul(31, s) + byte) >>> 0;
  return Float32Array.from({ length: n }, () => {
    s = (Math.imul(1664525, s) + 1013904223) >>> 0;
    return (s / 2 ** 32 - 0.5) * 2 * scale + offset;
  });
}
