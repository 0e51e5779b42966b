import { describe, expect, it } from 'vitest';
import { ROOT } from './client';
import { DIGITS, session } from './session';

describe('the launch option "loss"', () => {
  it('is stepped like the model, forward and backward', async () => {
    const loss = '(logits[:, 3].sum() - logits.mean()) ** 2';
    const s = await session().start(
      { ...DIGITS, label: 7, loss },
      { functions: [{ name: 'loss' }, { name: 'grad:loss:entry' }, { name: 'grad:head.bias' }] },
    );
    await s.stopped();
    await s.step('stepIn');
    expect((await s.stack()).map((f) => f.name)).toEqual(['sum', 'Loss loss', 'VisionMamba']);
    expect((await s.stack())[0].source?.name).toBe('loss.ts');
    await s.step('next');
    expect((await s.stack())[0].name).toBe('mean');
    await s.step('continue');
    await s.step('stepIn');
    expect((await s.stack()).map((f) => f.name)).toEqual([
      'gradient of seed_grad',
      'gradient of Loss loss',
      'gradient of VisionMamba',
    ]);
    expect((await s.step('continue')).text).toBe('head.bias (hit 1)');
    await s.client.request('continue', { threadId: 1 });
    await s.terminated();
    expect(s.console).toContain(
      `The backward pass starts from the loss ${loss}; the label is only shown with the result.`,
    );
    expect(s.console).toMatch(/^Loss [\d.]+\.$/m);
  });

  it('starts the backward pass of a language model', async () => {
    const s = await session().start(
      { model: `${ROOT}test/fixtures/lm/tied`, text: 'The step delta', loss: 'logits[0, -1, 3]' },
      { functions: [{ name: 'grad:embedding.weight' }] },
    );
    expect((await s.stopped()).text).toBe('embedding.weight (hit 1)');
  });

  it.each([
    ['logits', /The loss "logits" cannot be used: it gives a tensor of shape \[1, 10\], not one number/],
    ['logits.men()', /men cannot be used in a loss; did you mean mean\?/],
    ['input.sum()', /does not use logits/],
  ])('%s is refused in one sentence', async (loss, message) => {
    const { client } = session();
    await client.request('initialize', { adapterID: 'mamba' });
    await expect(client.request('launch', { ...DIGITS, loss })).rejects.toThrow(message);
  });
});
