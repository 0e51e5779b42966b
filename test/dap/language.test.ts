import { describe, expect, it } from 'vitest';
import { ROOT } from './client';
import { session } from './session';

const FOLDER = `${ROOT}test/fixtures/lm/tied`;
const TEXT = 'The step delta chooses the state.';

describe('a language model in a folder of transformers', () => {
  it('runs on a text to its end and names the next tokens', async () => {
    const s = await session().start({ model: FOLDER, text: TEXT });
    await s.terminated();
    expect(s.console).toMatch(/^tied: [\d,]+ parameters/m);
    expect(s.console).toContain('The text is 13 tokens: "The" " s" "tep" " de"');
    expect(s.console).toMatch(/^next "[^"]+" [\d.]+ % · "/m);
  });

  it('stops at the scan of a layer, in the source of the model', async () => {
    const s = await session().start(
      { model: FOLDER, input: `${FOLDER}/expected.safetensors` },
      { functions: [{ name: 'selective_scan', condition: 'layer == 1' }] },
    );
    await s.stopped();
    const frames = await s.stack();
    expect(frames.map((f) => f.source?.name)).toContain('mambaLm.ts');
    expect(frames.some((f) => f.name.includes('layers.1'))).toBe(true);
    expect(
      await s.client.request('evaluate', { expression: 'embedded', frameId: frames.at(-1)!.id }),
    ).toMatchObject({
      result: expect.stringContaining('[2, 11, 16]'),
    });
  });
});
