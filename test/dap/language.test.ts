import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { DapClient, ROOT } from './client';
import { DIGITS, type Session, session } from './session';

const FOLDER = `${ROOT}test/fixtures/lm/tied`;
const TEXT = 'The step delta chooses the state.';
/** More tokens than a test can wait for. */
const ENDLESS = 'generate(100000000)';

async function stoppedOn(launch: Record<string, unknown>): Promise<Session> {
  const s = await session().start({ model: FOLDER, stopOnEntry: true, ...launch });
  await s.stopped();
  return s;
}

describe('a language model in a folder of transformers', () => {
  it('runs on a text to its end and names the next tokens', async () => {
    const s = await session().start({ model: FOLDER, text: TEXT });
    await s.terminated();
    expect(s.console).toMatch(/^tied: [\d,]+ parameters/m);
    expect(s.console).toContain('The text is 13 tokens: "The" " s" "tep" " de"');
    expect(s.console).toMatch(/^next "[^"]+" [\d.]+ % · "/m);
    expect(s.console).not.toContain('SIMD');
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

  it('shows its input tokens as text', async () => {
    const s = await stoppedOn({ text: TEXT });
    expect((await s.scope('Run'))['tokens'].value).toBe('"The| s|tep| de|lt|a| cho|os|es| the| s|tate|."');
    const several = await stoppedOn({ input: `${FOLDER}/expected.safetensors` });
    const names = Object.keys(await several.scope('Run'));
    expect(names).toEqual(expect.arrayContaining(['tokens of sequence 0', 'tokens of sequence 1']));
  });
});

describe('generate(...) in the Debug Console', () => {
  it('writes on from the input with the probability of each token', async () => {
    const s = await stoppedOn({ text: TEXT });
    const [text, tokens, speed] = (await s.evaluate('generate(4)', 'repl')).split('\n');
    const listed = [...tokens.matchAll(/"([^"]*)" ([\d.]+) %/g)].map(([, token]) => token);
    expect(listed).toHaveLength(4);
    expect(listed.join('')).toBe(text);
    expect(speed).toMatch(/^4 tokens in [\d.e-]+ s, [\d.e]+ tokens\/s\.$/);
    await s.client.request('continue', { threadId: 1 });
    await s.terminated();
    // The parallel form names the same next token, with the same probability.
    expect(s.console).toContain(`next ${tokens.split(' · ')[0]} · `);
  });

  it('draws at random when it is asked to, the same for the same seed', async () => {
    const s = await stoppedOn({ text: TEXT });
    const draw = async (seed: number) => {
      const answer = await s.evaluate(`generate(30, temperature=1.5, top_k=50, seed=${seed})`, 'repl');
      return answer.split('\n')[0];
    };
    expect(await draw(1)).toBe(await draw(1));
    expect(await draw(1)).not.toBe(await draw(2));
  });

  it('gives ids without a tokenizer', async () => {
    const s = await stoppedOn({ model: { d_model: 8, n_layer: 1, vocab_size: 16 } });
    const [ids, tokens] = (await s.evaluate('generate(3)', 'repl')).split('\n');
    expect(JSON.parse(ids)).toHaveLength(3);
    expect(tokens).toMatch(/^token \d+ [\d.]+ % · token/);
  });

  it.each([
    ['generate(0)', 'tokens takes a whole number from 1'],
    ['generate(20, temperature=-1)', 'temperature takes a number above 0'],
    ['generate(20, top_k=0.5)', 'top_k takes a whole number from 1'],
    ['generate(20, temprature=1)', 'generate has no argument temprature; did you mean temperature?'],
    ['generate(20, seed=1)', 'Without temperature or top_k'],
    ['generate(20, 40)', 'the rest is given by name'],
    ['generate(20, tokens=3)', 'generate is given tokens twice.'],
    ['generate(20) + 1', 'stands alone'],
    ['generate(delta)', 'delta'],
    ['generate(', 'Column'],
  ])('refuses %s', async (expression, message) => {
    const s = await stoppedOn({ text: TEXT });
    await expect(s.evaluate(expression, 'repl')).rejects.toThrow(message);
  });

  it('refuses a watch, several sequences and a vision model', async () => {
    const s = await stoppedOn({ input: `${FOLDER}/expected.safetensors` });
    await expect(s.evaluate('generate(3)', 'watch')).rejects.toThrow(
      'only when it is asked in the Debug Console',
    );
    await expect(s.evaluate('generate(3)', 'repl')).rejects.toThrow('The input has 2 sequences');
    const vision = await stoppedOn({ ...DIGITS });
    await expect(vision.evaluate('generate(3)', 'repl')).rejects.toThrow('is for language models');
  });
});

describe('a long generation', () => {
  async function underWay() {
    const s = await stoppedOn({ text: TEXT });
    const asked = s.client.send('evaluate', { expression: ENDLESS, context: 'repl' });
    const progress = await s.client.event<DebugProtocol.ProgressUpdateEvent>(
      'progressUpdate',
      0,
      ({ body }) => /^\d+ of 100000000 tokens written$/.test(body.message ?? ''),
    );
    return { s, asked, progressId: progress.body.progressId };
  }

  it('lets the tensors be looked at, and a pause ends it with what is written', async () => {
    const { s, asked } = await underWay();
    expect((await s.scope('Run'))['model'].value).toBe('tied');
    await s.client.request('pause', { threadId: 1 });
    const { success, body } = await s.client.response(asked);
    expect(success).toBe(true);
    expect(body.result).toMatch(/\d tokens\/s, stopped early\.$/);
    expect(await s.evaluate('generate(2)', 'repl')).toMatch(/\n2 tokens in/);
  });

  it('ends when its progress is cancelled', async () => {
    const { s, asked, progressId } = await underWay();
    await s.client.request('cancel', { progressId });
    expect((await s.client.response(asked)).body.result).toMatch(/stopped early\.$/);
    await s.client.event('progressEnd');
  });

  it('ends when its request is cancelled', async () => {
    const { s, asked } = await underWay();
    await s.client.request('cancel', { requestId: asked });
    expect(await s.client.response(asked)).toMatchObject({ success: false, message: 'cancelled' });
    await s.client.event('progressEnd');
  });

  it('ends when the run goes on', async () => {
    const { s, asked } = await underWay();
    await s.client.request('continue', { threadId: 1 });
    expect(await s.client.response(asked)).toMatchObject({ success: false, message: 'cancelled' });
    await s.terminated();
    expect(s.console).toContain('tied finished');
  });

  it('does not hold up a disconnect', async () => {
    const { s } = await underWay();
    await s.client.request('disconnect', {});
  });
});

it('says when the SIMD kernels are missing', async () => {
  const root = mkdtempSync(join(tmpdir(), 'scanpoint-'));
  cpSync(`${ROOT}dist`, join(root, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.wasm') });
  const client = new DapClient(process.execPath, [join(root, 'dist', 'adapter.js')]);
  try {
    await client.request('initialize', { adapterID: 'mamba' });
    await client.request('launch', { model: FOLDER, text: TEXT });
    const notice = await client.event<DebugProtocol.OutputEvent>('output', 0, ({ body }) =>
      body.output.includes('SIMD'),
    );
    expect(notice.body.output).toBe(
      `The SIMD kernels are not used because kernels.relaxed.wasm and kernels.strict.wasm are missing in ${root}/dist; the run is slower.\n`,
    );
  } finally {
    await client.dispose();
    rmSync(root, { recursive: true });
  }
});
