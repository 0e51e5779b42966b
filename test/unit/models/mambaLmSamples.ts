import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { openCheckpoint } from '../../../runtime/checkpoint';
import type { Execution } from '../../../runtime/engine/execution';
import { type Loaded, type LoadRequest, load } from '../../../runtime/engine/load';
import type { MambaLmConfig } from '../../../runtime/models/mambaLmConfig';
import { RecurrentMamba } from '../../../runtime/text/recurrent';
import { fixture } from '../fixtures';

/** Folders that transformers saved; see test/fixtures/lm/make.py. */
export const HUGGING_FACE = ['tied', 'untied'] as const;

/** The small model of mamba-minimal; see test/fixtures/golden/README.md. */
export const SMALL = fixture('golden/mamba_lm_small.config.json');

export function smallFile(form: string): string {
  return fixture(`golden/mamba_lm_small.${form}`);
}

export function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
}

export async function loaded(request: Omit<LoadRequest, 'seed'>): Promise<Loaded> {
  return load(
    { seed: 0, ...request },
    () => undefined,
    async () => {},
  );
}

/** Loads and runs a model; its logits (B, L, V). */
export async function ran(request: Omit<LoadRequest, 'seed'>) {
  const { state, notes } = await loaded(request);
  state.execution.runAll();
  return {
    notes,
    execution: state.execution,
    logits: state.execution.tensor(state.program.outputs['output']),
  };
}

export async function tokensOf(path: string): Promise<number[][]> {
  const ids = (await openCheckpoint(path)).entries.get('input_ids')!.load();
  const [batch, length] = ids.shape;
  return Array.from({ length: batch }, (_, b) => Array.from({ length }, (_, t) => ids.at(b, t)));
}

/** The same model with the same weights as a recurrence. */
export function recurrent(execution: Execution, config: MambaLmConfig): RecurrentMamba {
  return new RecurrentMamba(config, (name) =>
    execution.tensor(execution.program.parameter(name)!.value).toArray(),
  );
}

/** The largest difference in units of `tolerance` x max(1, max |golden|). */
export function distance(actual: Float32Array, golden: Float32Array, tolerance = 1e-4): number {
  expect(actual.length).toBe(golden.length);
  const worst = golden.reduce(
    (w, g, i) => Math.max(w, Number.isNaN(actual[i]) ? Infinity : Math.abs(actual[i] - g)),
    0,
  );
  return worst / (tolerance * golden.reduce((m, g) => Math.max(m, Math.abs(g)), 1));
}
