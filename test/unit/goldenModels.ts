import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { visionMamba } from '../../runtime/models/vim';
import { vimConfig } from '../../runtime/models/vimConfig';
import { ModelBuilder } from '../../runtime/program/modelBuilder';
import type { Program } from '../../runtime/program/program';
import { fixture } from './fixtures';

/** The models of the golden values of the original implementation (see test/fixtures/golden/README.md). */
export const manifest = JSON.parse(readFileSync(fixture('golden/vim_manifest.json'), 'utf8')) as Record<
  string,
  { config: Record<string, unknown>; scan_calls_in_order: number; batch: number }
>;

/** Arguments of the full-size model. */
export const VIM_TINY = {
  final_pool_type: 'mean',
  bimamba_type: 'v2',
  if_divide_out: true,
  use_middle_cls_token: true,
};

export function buildVim(args: Record<string, unknown>, shape: readonly number[]): Program {
  const config = vimConfig(args);
  const p = new ModelBuilder();
  return p.build('vim', 'VisionMamba', () =>
    visionMamba(p, p.input('input', shape, ['B', 'C', 'H', 'W']), config),
  );
}

/** The same with `labels` (B) as an input and the cross-entropy as the output `loss`. */
export function buildVimLoss(args: Record<string, unknown>, shape: readonly number[]): Program {
  const config = vimConfig(args);
  const p = new ModelBuilder();
  return p.build('vim', 'VisionMamba', () => {
    const output = visionMamba(p, p.input('input', shape, ['B', 'C', 'H', 'W']), config);
    return { output, loss: p.crossEntropy(output, p.input('labels', [shape[0]], ['B'])) };
  });
}

/** The largest difference, in units of the tolerance that float32 supports: 1e-4 x max(1, max |golden|). */
export function distance(actual: Float32Array, golden: Float32Array): number {
  expect(actual.length).toBe(golden.length);
  let worst = 0;
  let largest = 1;
  for (let i = 0; i < golden.length; i++) {
    worst = Math.max(worst, Number.isFinite(actual[i]) ? Math.abs(actual[i] - golden[i]) : Infinity);
    largest = Math.max(largest, Math.abs(golden[i]));
  }
  return worst / (1e-4 * largest);
}

/** [mean, std, min, max], as the golden files list them. */
export function moments(x: Float32Array): number[] {
  const mean = x.reduce((s, v) => s + v, 0) / x.length;
  const variance = x.reduce((s, v) => s + (v - mean) ** 2, 0) / (x.length - 1);
  return [mean, Math.sqrt(variance), x.reduce((m, v) => Math.min(m, v)), x.reduce((m, v) => Math.max(m, v))];
}

/** The rule that the golden README gives for weights, so that no 28 MB file is needed. */
export function filledByRule(name: string, shape: readonly number[]): Float32Array {
  const n = shape.reduce((a, b) => a * b, 1);
  if (/A(_b)?_log$/.test(name))
    return Float32Array.from({ length: n }, (_, i) => Math.log((i % shape[1]) + 1));
  if (name === 'pos_embed' || name === 'cls_token') return uniform(name, n, 0.02, 0);
  if (/dt_proj(_b)?\.bias$/.test(name)) return uniform(name, n, 1, -4);
  if (/\.D(_b)?$/.test(name) || /norm(_f)?\.weight$/.test(name)) return uniform(name, n, 0.1, 1);
  if (name.endsWith('bias')) return uniform(name, n, 0.05, 0);
  return uniform(name, n, 1 / Math.sqrt(n / shape[0]), 0);
}

export function uniform(name: string, n: number, scale: number, offset: number): Float32Array {
  let s = 0;
  for (const byte of new TextEncoder().encode(name)) s = (Math.imul(31, s) + byte) >>> 0;
  return Float32Array.from({ length: n }, () => {
    s = (Math.imul(1664525, s) + 1013904223) >>> 0;
    return (s / 2 ** 32 - 0.5) * 2 * scale + offset;
  });
}
