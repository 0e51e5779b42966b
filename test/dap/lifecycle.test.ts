import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { DIGITS, session } from './session';

const TINY = 'vim_tiny_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2';

function file(name: string, text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'scanpoint-')), name);
  writeFileSync(path, text);
  return path;
}

/** A `.npy` file of zeros. */
function zeros(shape: number[]): string {
  const header =
    `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`.padEnd(117) + '\n';
  const count = shape.reduce((n, size) => n * size, 1);
  const path = join(mkdtempSync(join(tmpdir(), 'scanpoint-')), 'zeros.npy');
  writeFileSync(
    path,
    Buffer.concat([
      Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'),
      Buffer.from(header),
      Buffer.alloc(4 * count),
    ]),
  );
  return path;
}

/** A model whose run takes seconds on any machine. */
const SLOW = { img_size: 1024, patch_size: 16, stride: 16, embed_dim: 384, depth: 24, bimamba_type: 'v2' };

describe('initialize', () => {
  it('promises what is tested, and no more', async () => {
    const { client } = session();
    const capabilities = await client.request('initialize', { adapterID: 'mamba' });
    expect(capabilities).toMatchSnapshot();
  });
});

describe('launch', () => {
  it('runs to the end and names the class', async () => {
    const s = await session().start({ ...DIGITS, label: 7 });
    await s.terminated();
    expect(s.console).toMatch(/vim_digits: [\d,]+ parameters, [\d,]+ ops\./);
    expect(s.console).toMatch(/^7 \d+(\.\d+)? % · .*\(as labelled\)$/m);
    expect(s.console).toMatch(/vim_digits finished after [\d.]+ s\./);
    expect((await s.client.event('exited')).body).toEqual({ exitCode: 0 });
  });

  it('takes a published name, with weights and noise from a seed', async () => {
    const s = session();
    await s.start({ model: TINY, seed: 3, stopOnEntry: true });
    await s.stopped();
    expect(s.console).toContain('7,148,008 parameters');
    expect(s.console).toContain('the weights are random, from seed 3');
  });

  const wrong: [string, Record<string, unknown>, RegExp][] = [
    ['no model', {}, /has no "model"/],
    [
      'a name that is not published',
      { model: 'resnet50' },
      /"resnet50" is neither a file nor a published model name/,
    ],
    [
      'a misspelt part of a name',
      { model: 'vim_tiny_patch16_224_bimambav3' },
      /"bimambav3".*did you mean "bimambav2"/,
    ],
    ['a file that is not there', { model: '/nowhere/model.json' }, /\/nowhere\/model\.json cannot be read/],
    ['a file that is not JSON', { model: file('m.json', '{') }, /is not JSON/],
    [
      'an unknown argument',
      { model: { if_devide_out: true } },
      /no argument "if_devide_out"; did you mean "if_divide_out"\?/,
    ],
    [
      'an argument of the wrong type',
      { model: { depth: 'deep' } },
      /argument depth is "deep"; it takes a whole number/,
    ],
    ['a checkpoint that is not there', { ...DIGITS, checkpoint: '/nowhere/x.pth' }, /\/nowhere\/x\.pth/],
    ['an input that is no image', { ...DIGITS, input: file('x.png', 'hello') }, /x\.png/],
    ['a label that is no number', { ...DIGITS, label: 'seven' }, /"label"/],
    [
      'a condition that is no text',
      { ...DIGITS, breakpoints: [{ name: 'selective_scan', condition: {} }] },
      /"condition" of the breakpoint "selective_scan"/,
    ],
    ['breakpoints that are no list', { ...DIGITS, breakpoints: 'scan' }, /"breakpoints"/],
  ];
  it.each(wrong)('refuses %s with one sentence', async (_, launch, message) => {
    const { client } = session();
    await client.request('initialize', { adapterID: 'mamba' });
    const response = await client.response(client.send('launch', launch));
    expect(response.success).toBe(false);
    expect(response.message).toMatch(message);
    expect(response.message).not.toMatch(/\n|at .*:\d+:\d+/);
    expect(response.body.error.showUser).toBe(true);
  });

  it('reports keys that do not fit as a table before running, and can be launched again', async () => {
    const s = session();
    await s.client.request('initialize', { adapterID: 'mamba' });
    const { model } = JSON.parse(readFileSync(DIGITS.model, 'utf8'));
    const response = await s.client.response(
      s.client.send('launch', {
        ...DIGITS,
        model: { ...model, bimamba_type: 'none', depth: model.depth + 1 },
      }),
    );
    expect(response.success).toBe(false);
    expect(response.message).toMatch(/The checkpoint does not fit the model/);
    expect(s.console).toMatch(/layers\.\d+|layers\.\*/);
    expect(s.console.split('\n').length).toBeGreaterThan(3);
    await s.client.request('launch', DIGITS);
  });

  it('names the module, both shapes and the source line when shapes do not fit', async () => {
    const { client } = session();
    await client.request('initialize', { adapterID: 'mamba' });
    const npy = zeros([1, 3, 40, 40]);
    const response = await client.response(
      client.send('launch', {
        model: { img_size: 32, patch_size: 8, stride: 8, depth: 1, embed_dim: 32 },
        input: npy,
      }),
    );
    expect(response.message).toMatch(
      /Shapes do not fit in the model: add cannot broadcast \[1, 26, 32\] and \[1, 17, 32\] \(runtime\/models\/vim\.ts:\d+\)\.|img_size/,
    );
  });
});

describe('running', () => {
  it('pauses, and goes on', async () => {
    const s = await session().start({ model: TINY });
    await s.client.request('pause', { threadId: 1 });
    expect(await s.stopped()).toMatchObject({ reason: 'pause' });
    expect((await s.stack()).length).toBeGreaterThan(0);
    await s.step('next');
  });

  it('answers while the model runs, and refuses to look at what moves', async () => {
    const s = await session().start({ model: TINY });
    await expect(s.client.request('stackTrace', { threadId: 1 })).rejects.toThrow('running');
    await s.setFunctions([{ name: 'selective_scan', condition: 'layer == 23' }]);
    expect(s.functionAnswers[0].verified).toBe(true);
    expect((await s.stopped()).text).toContain('layers.23.mixer');
  });

  it('shows progress that can be cancelled to a client that wants it', async () => {
    const s = await session().start({ model: SLOW, threads: 1 });
    const start = await s.client.event<DebugProtocol.ProgressStartEvent>('progressStart', 0, (e) =>
      e.body.title.includes('running'),
    );
    expect(start.body.cancellable).toBe(true);
    await s.client.request('cancel', { progressId: start.body.progressId });
    expect(await s.stopped()).toMatchObject({ reason: 'pause' });
    await s.client.event('progressEnd');
  });

  it('starts again with the files as they are now', async () => {
    const s = await session().start(DIGITS, { functions: [{ name: 'selective_scan' }] });
    const first = await s.stopped();
    await s.step('continue');
    expect((await s.step('restart')).text).toBe(first.text);
  });

  it('ends when asked', async () => {
    const s = await session().start({ ...DIGITS, stopOnEntry: true });
    await s.stopped();
    await s.client.request('terminate');
    await s.terminated();
    await expect(s.client.request('stackTrace', { threadId: 1 })).rejects.toThrow(
      'Nothing is being debugged',
    );
    await s.client.request('disconnect');
  });

  it('leaves no process behind after disconnect', async () => {
    const s = await session().start({ model: TINY });
    const gone = new Promise((resolve) => s.client.process.once('exit', resolve));
    await s.client.request('disconnect');
    await gone;
  });
});

describe('requests', () => {
  it('that are unknown or come too early get an error', async () => {
    const { client } = session();
    await expect(client.request('flyToTheMoon')).rejects.toThrow(
      'Scanpoint does not know the request "flyToTheMoon"',
    );
    await expect(client.request('continue', { threadId: 1 })).rejects.toThrow('send "launch" first');
    await expect(client.request('attach', {})).rejects.toThrow('started with "launch"');
  });

  it('that are cancelled say so', async () => {
    const s = await session().start({ ...DIGITS, stopOnEntry: true });
    await s.stopped();
    const open = s.client.send('mamba/tensors', { scope: 'run' });
    await s.client.request('cancel', { requestId: open });
    const response = await s.client.response(open);
    expect(response.success || response.message === 'cancelled').toBe(true);
    expect(
      s.client.received.filter(
        (m) => m.type === 'response' && (m as DebugProtocol.Response).request_seq === open,
      ),
    ).toHaveLength(1);
  });

  it('loading can be cancelled', async () => {
    const { client } = session();
    await client.request('initialize', { adapterID: 'mamba' });
    const launch = client.send('launch', { model: TINY });
    await client.request('cancel', { requestId: launch });
    expect(await client.response(launch)).toMatchObject({ success: false });
  });
});
