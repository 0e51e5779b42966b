import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../runtime/checkpoint';
import { load } from '../../runtime/engine/load';
import type { Tensor } from '../../runtime/tensor/tensor';
import { ROOT } from '../dap/client';
import { DIGITS } from '../dap/session';

/** Runs the digits model on an input; gives the logits (B, 10). */
async function logitsOf(input: string): Promise<Tensor> {
  const { state } = await load(
    { ...DIGITS, input, seed: 0 },
    () => undefined,
    async () => {},
  );
  state.execution.runAll();
  return state.execution.tensor(state.program.outputs['output']);
}

function classOf(logits: Tensor, b: number): number {
  const scores = Array.from({ length: logits.shape[1] }, (_, k) => logits.at(b, k));
  return scores.indexOf(Math.max(...scores));
}

describe('the digits example', () => {
  it('gives the same class as PyTorch on every held-out digit, and logits within 1e-4', async () => {
    const heldout = `${ROOT}examples/digits/heldout.safetensors`;
    const { entries } = await openCheckpoint(heldout);
    const [predicted, labels, expected] = ['predicted', 'labels', 'logits'].map((name) =>
      entries.get(name)!.load(),
    );
    const logits = await logitsOf(heldout);
    expect(logits.shape).toEqual(expected.shape);
    let [correct, worst] = [0, 0];
    for (let b = 0; b < logits.shape[0]; b++) {
      expect(classOf(logits, b), `digit ${b}`).toBe(predicted.at(b));
      if (classOf(logits, b) === labels.at(b)) correct++;
      for (let k = 0; k < 10; k++) worst = Math.max(worst, Math.abs(logits.at(b, k) - expected.at(b, k)));
    }
    expect(worst).toBeLessThan(1e-4 * Math.max(1, ...expected.toArray()));
    expect(correct / logits.shape[0]).toBeGreaterThanOrEqual(0.97);
  });

  it.each(readdirSync(`${ROOT}examples/digits`).filter((f) => f.endsWith('.png')))(
    'reads %s as its name says',
    async (file) => {
      const said = Number(/(?:read_as_|digit_)(\d)$/.exec(basename(file, '.png'))![1]);
      expect(classOf(await logitsOf(`${ROOT}examples/digits/${file}`), 0)).toBe(said);
    },
  );
});
