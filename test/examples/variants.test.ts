import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../runtime/checkpoint';
import { Execution } from '../../runtime/engine/execution';
import { visionMamba } from '../../runtime/models/vim';
import { vimConfig } from '../../runtime/models/vimConfig';
import { ModelBuilder } from '../../runtime/program/modelBuilder';
import { ROOT } from '../dap/client';
import { ensurePython } from '../setup/python.mjs';

/** Each file: weights, input and logits of one variant as PyTorch computes them. */
const folder = mkdtempSync(join(tmpdir(), 'scanpoint-variants-'));

beforeAll(async () => {
  const python = await ensurePython();
  execFileSync(python, ['-B', `${ROOT}test/python/export_variants.py`, folder]);
}, 900_000);

/** The constructor's arguments, from the file's metadata. */
function argumentsOf(path: string): Record<string, unknown> {
  const bytes = readFileSync(path);
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + Number(bytes.readBigUInt64LE(0))));
  return JSON.parse(header.__metadata__.model);
}

describe('every variant of the constructor', () => {
  it('gives the logits that PyTorch gives', async () => {
    const files = readdirSync(folder);
    expect(files.length).toBe(14);
    for (const file of files) {
      const path = join(folder, file);
      const { entries } = await openCheckpoint(path);
      const input = entries.get('input')!.load();
      const config = vimConfig(argumentsOf(path));
      const p = new ModelBuilder();
      const program = p.build('vim', 'VisionMamba', () =>
        visionMamba(p, p.input('input', input.shape), config),
      );
      const run = new Execution(program);
      for (const { name, value, fallback } of program.parameters)
        run.fill(value, entries.get(name)?.load().toArray() ?? fallback!);
      run.fill(program.inputs['input'], input.toArray());
      run.runAll();
      const expected = entries.get('logits')!.load();
      const logits = run.tensor(program.outputs['output']);
      expect(logits.shape, basename(file)).toEqual(expected.shape);
      const [mine, theirs] = [logits.toArray(), expected.toArray()];
      const worst = mine.reduce((m, x, i) => Math.max(m, Math.abs(x - theirs[i])), 0);
      expect(worst, basename(file)).toBeLessThan(1e-4 * Math.max(1, ...theirs.map(Math.abs)));
    }
  });
});
