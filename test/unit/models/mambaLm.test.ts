import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCheckpoint, writeSafetensors } from '../../../runtime/checkpoint';
import { type ScanTensors, selectiveScan } from '../../../runtime/kernels/selectiveScan';
import { Tensor, view } from '../../../runtime/tensor/tensor';
import { fixture, readFixture } from '../fixtures';
import { distance, HUGGING_FACE, loaded, ran, readJson, SMALL, smallFile } from './mambaLmSamples';

const GOLDEN = 'golden/mamba_lm_small.golden.safetensors';
const input = fixture(GOLDEN);

describe('the small model of mamba-minimal', () => {
  it('agrees with the original at every scan and in the logits', async () => {
    const golden = await readFixture(GOLDEN);
    const { execution, logits } = await ran({
      model: SMALL,
      checkpoint: smallFile('weights.safetensors'),
      input,
    });
    const scans = execution.program.ops.filter((op) => op.kind.name === 'selective_scan');
    expect(scans).toHaveLength(2);
    scans.forEach((op, i) => {
      const t = execution.tensors(op.inputs);
      for (const role of ['A', 'D']) agrees(t[role], golden, `scan.${i}.${role}`);
      for (const role of ['u', 'delta', 'B', 'C']) agrees(lengthFirst(t[role]), golden, `scan.${i}.${role}`);
      agrees(lengthFirst(beforeGate(t as unknown as ScanTensors)), golden, `scan.${i}.y`);
    });
    agrees(logits, golden, 'logits');
  });

  it.each([
    ['weights.safetensors', 1e-4],
    ['zip_pickle.pth', 1e-4],
    ['legacy.pth', 1e-4],
    ['fp16.pth', 1e-3],
    ['bf16.pth', 5e-3],
  ])('reads its weights from %s', async (form, tolerance) => {
    const golden = await readFixture(GOLDEN);
    const { logits, notes } = await ran({ model: SMALL, checkpoint: smallFile(form), input });
    expect(distance(logits.toArray(), golden['logits'].data, tolerance)).toBeLessThan(1);
    expect(notes).toHaveLength(2); // the head in the file is the embedding, so there is nothing to say about it
  });

  it('has modules by the names of the original, and a head that is counted once', async () => {
    const { state } = await loaded({ model: SMALL });
    expect(state.program.scopes.map((s) => s.path)).toContain('layers.1.mixer');
    const head = state.program.ops.at(-1)!;
    expect([head.module, head.inputs['weight'].name]).toEqual(['lm_head', 'embedding.weight']);
    expect(state.program.parameter('lm_head.weight')).toBeUndefined();
  });
});

describe.each(HUGGING_FACE)('a folder of transformers, %s', (name) => {
  const folder = fixture(`lm/${name}`);
  const expected = `${folder}/expected.safetensors`;

  it.each([folder, `${folder}/config.json`])('gives the logits of transformers from %s', async (model) => {
    const golden = await readFixture(`lm/${name}/expected.safetensors`);
    const { logits, notes } = await ran({ model, input: expected });
    agrees(logits, golden, 'logits');
    expect(notes[0]).toBe('expected.safetensors: 2 sequences of 11 tokens.');
    expect(notes[1]).toContain('model.safetensors (safetensors)');
  });

  it('prefers the checkpoint that is named', async () => {
    await expect(loaded({ model: folder, checkpoint: smallFile('weights.safetensors') })).rejects.toThrow(
      /The checkpoint does not fit the model: .*d_model 32/,
    );
  });
});

it('says when a tied model is given a head of its own', async () => {
  const folder = fixture('lm/untied');
  const config = {
    hidden_size: 12,
    vocab_size: 30,
    num_hidden_layers: 3,
    state_size: 4,
    conv_kernel: 3,
    expand: 3,
  };
  const model = { ...config, time_step_rank: 5, use_bias: true, use_conv_bias: false };
  const { notes } = await loaded({ model, checkpoint: `${folder}/model.safetensors` });
  expect(notes.at(-1)).toContain('lm_head.weight that differs from the embedding');
});

it('has random weights without a checkpoint, and random tokens without an input', async () => {
  const { logits, notes } = await ran({ model: { d_model: 8, n_layer: 1, vocab_size: 10 } });
  expect(logits.shape).toEqual([1, 32, 16]);
  expect(logits.toArray().every(Number.isFinite)).toBe(true);
  expect(notes).toEqual([
    'No "input" or "text" was given: 32 random tokens from seed 0.',
    'No "checkpoint" was given: the weights are random, from seed 0.',
  ]);
});

it('reads the names of the original, which has a backbone with one embedding', async () => {
  const { entries } = await openCheckpoint(smallFile('weights.safetensors'));
  const named = [...entries].map(([key, record]) => {
    return [key === 'lm_head.weight' ? key : `backbone.${key}`, record.load()] as const;
  });
  const folder = mkdtempSync(join(tmpdir(), 'scanpoint-'));
  try {
    writeFileSync(join(folder, 'model.safetensors'), writeSafetensors(named));
    writeFileSync(
      join(folder, 'config.json'),
      JSON.stringify({ ...readJson(SMALL), ssm_cfg: {}, rms_norm: true }),
    );
    const { logits } = await ran({ model: folder, input });
    agrees(logits, await readFixture(GOLDEN), 'logits');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

type Golden = Awaited<ReturnType<typeof readFixture>>;

function agrees(actual: Tensor, golden: Golden, key: string): void {
  expect(actual.shape, key).toEqual(golden[key].shape);
  expect(distance(actual.toArray(), golden[key].data), key).toBeLessThan(1);
}

/** (B, D, L) to (B, L, D), as mamba-minimal keeps it. */
function lengthFirst(x: Tensor): Tensor {
  return x.with(view.transpose(x, 1, 2));
}

/** What mamba-minimal calls y: after the skip, before the gate. */
function beforeGate({ z: _, ...inputs }: ScanTensors): Tensor {
  const y = new Tensor(new Float32Array(inputs.u.numel), inputs.u.shape);
  selectiveScan(inputs, y);
  return y;
}
