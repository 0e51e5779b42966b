import { readFile } from 'node:fs/promises';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import type { GradientsResponse } from '../../src/protocol/requests';
import { plant } from '../plantedCheckpoint';
import { fixture } from '../unit/fixtures';
import { ROOT } from './client';
import { DIGITS, session } from './session';

const BACKWARD = { ...DIGITS, label: 7, backward: true };

/** A golden Vim with its input and labels, as a launch configuration. */
async function golden(name: string): Promise<Record<string, unknown>> {
  const manifest = JSON.parse(await readFile(fixture('golden/vim_manifest.json'), 'utf8'));
  return {
    model: manifest[name].config,
    checkpoint: fixture(`golden/${name}.weights.safetensors`),
    input: fixture(`golden/${name}.golden.safetensors`),
    backward: true,
  };
}

describe('the backward pass', () => {
  it('runs after the forward pass and tells loss and gradients', async () => {
    const s = await session().start(await golden('vim_v2_midcls_div2'), {
      functions: [{ name: 'grad:layers.0.mixer.A_log' }],
    });
    expect(s.functionAnswers).toMatchObject([{ verified: true }]);
    expect(await s.stopped()).toMatchObject({
      description: 'Paused at gradient',
      text: 'layers.0.mixer.A_log (hit 1)',
    });
    expect((await s.stack()).map((f) => f.name)).toEqual([
      'gradient of exp · forward',
      'gradient of Mamba layers.0.mixer',
      'gradient of Block layers.0',
      'gradient of VisionMamba',
    ]);
    expect(await s.scope('Run')).toMatchObject({
      pass: { value: 'backward' },
      parameter: { value: 'layers.0.mixer.A_log' },
    });
    // What the breakpoint's condition may name can be looked at too.
    const [top] = await s.stack();
    const evaluate = (expression: string) =>
      s.client.request<{ result: string }>('evaluate', { expression, frameId: top.id, context: 'repl' });
    expect(Number((await evaluate('grad.norm()')).result)).toBeGreaterThan(0);
    expect(Object.keys(await s.scope('Inputs and outputs'))).toContain('grad');
    await s.step('next');
    await expect(evaluate('grad')).rejects.toThrow();
    await s.step('stepBack');
    expect(Object.keys(await s.scope('Parameters'))).toEqual(
      expect.arrayContaining(['out_proj.weight', 'out_proj.weight.grad']),
    );
    await s.client.request('continue', { threadId: 1 });
    await s.terminated();
    expect(s.console).toMatch(/^Loss \d/m);
    expect(s.console).toMatch(/^Gradient norms of 42 parameters and inputs, largest: /m);
  });

  it('gives the gradient norms of the original', async () => {
    const name = 'vim_v2_midcls_div2';
    const s = await session().start(await golden(name), {
      functions: [{ name: 'grad:patch_embed.proj.weight' }],
    });
    await s.stopped();
    const { gradients } = await s.client.request<GradientsResponse>('mamba/gradients');
    const { readFixture } = await import('../unit/fixtures');
    const expected = await readFixture(`golden/${name}.golden.safetensors`);
    expect(gradients.length).toBeGreaterThan(35);
    for (const { name: parameter, norm, absmax } of gradients) {
      const { data } = expected[`grad.${parameter}`];
      expect(Math.abs(norm / Math.hypot(...data) - 1), parameter).toBeLessThan(1e-4);
      expect(Math.abs(absmax / Math.max(...data.map(Math.abs)) - 1), parameter).toBeLessThan(1e-4);
    }
  });

  it('stops on a condition over a gradient, and refuses what has none', async () => {
    const functions = [
      { name: 'grad:layers.*.mixer.D', condition: 'grad.norm() > 0 and parameter == "layers.1.mixer.D"' },
      { name: 'grad:layers.0.mixer.A_lgo' },
    ];
    const s = await session().start(BACKWARD, { functions });
    expect(s.functionAnswers[1]).toMatchObject({
      verified: false,
      message: expect.stringContaining('did you mean "layers.0.mixer.A_log"'),
    });
    expect((await s.stopped()).text).toMatch(
      /^layers\.1\.mixer\.D: grad\.norm\(\) = [\d.e-]+ > 0 \(hit 1\)$/,
    );
    // One op completes both gradients of a layer; each breakpoint sees its own.
    const own = await session().start(BACKWARD, {
      functions: [{ name: 'grad:head.*', condition: 'grad.shape[0] == 10 and grad.ndim == 1' }],
    });
    expect((await own.stopped()).text).toMatch(/^head\.bias: /);
    const forward = await session().start(DIGITS, { functions: [{ name: 'grad:head.bias' }] });
    expect(forward.functionAnswers[0]).toMatchObject({
      verified: false,
      message: expect.stringContaining('"backward" to true'),
    });
  });

  it('steps forward and back, bit-equal', async () => {
    const s = await session().start(BACKWARD, {
      functions: [{ name: 'grad:layers.2.mixer.out_proj.weight' }],
    });
    await s.stopped();
    const seen: string[] = [];
    const look = async () =>
      `${(await s.stack())[0].name} ${JSON.stringify(Object.values(await s.scope('Parameters')).map((v) => v.value))}`;
    for (let i = 0; i < 6; i++) {
      await s.step('stepIn');
      seen.push(await look());
    }
    for (let i = 4; i >= 0; i--) {
      await s.step('stepBack');
      expect(await look()).toBe(seen[i]);
    }
  });

  it('stops on exploding and vanishing gradients, with thresholds of the person', async () => {
    const run = async (filterId: string, condition: string) => {
      const s = session();
      await s.client.request('initialize', { adapterID: 'mamba' });
      await s.client.request('launch', BACKWARD);
      const answer = await s.client.request<DebugProtocol.SetExceptionBreakpointsResponse['body']>(
        'setExceptionBreakpoints',
        { filters: [], filterOptions: [{ filterId, condition }] },
      );
      await s.client.request('configurationDone');
      return { s, answer };
    };
    const exploding = await run('exploding', '1e-9');
    expect(await exploding.s.stopped()).toMatchObject({
      reason: 'exception',
      text: expect.stringMatching(/: the norm of its gradient is [\d.e-]+ > 1e-9$/),
    });
    const info = await exploding.s.client.request<DebugProtocol.ExceptionInfoResponse['body']>(
      'exceptionInfo',
      { threadId: 1 },
    );
    expect(info.exceptionId).toBe('Exploding gradient');
    const vanishing = await run('vanishing', '1e9');
    expect((await vanishing.s.stopped()).text).toMatch(/ < 1e9$/);
    expect((await run('exploding', 'a lot')).answer?.breakpoints?.[0]).toMatchObject({
      verified: false,
      message: expect.stringContaining('"a lot" is not a number'),
    });
  });

  it('stops at scans by name, with their gradients, at the forward site', async () => {
    const s = await session().start(BACKWARD, {
      functions: [
        { name: 'grad:selective_scan:exit', condition: 'dA.norm() > 0 and nan(du) == 0 and layer == 1' },
        { name: 'selective_scan', condition: 'layer == 0 and pass_ == "backward"' },
        { name: 'grad:layers.0.mixer' },
      ],
    });
    expect(s.functionAnswers.map((b) => b.verified)).toEqual([true, true, false]);
    expect(s.functionAnswers[2].message).toContain('write grad:layers.0.mixer:entry or :exit');
    expect(await s.stopped()).toMatchObject({
      description: 'Paused at gradient of selective_scan exit',
      text: expect.stringMatching(/^layers\.1\.mixer, backward: dA\.norm\(\) = [\d.e-]+ > 0/),
    });
    expect(Object.keys(await s.scope('Scan'))).toEqual(
      expect.arrayContaining(['u', 'delta', 'A', 'dy', 'du', 'ddelta', 'dA', 'dB', 'dC', 'dD', 'dz']),
    );
    expect((await s.stack()).map((f) => f.name)).toEqual([
      'gradient of selective_scan · backward',
      'gradient of Mamba layers.1.mixer',
      'gradient of Block layers.1',
      'gradient of VisionMamba',
    ]);
    expect((await s.stack())[0].source?.name).toBe('mixer.ts');
    expect((await s.step('continue')).text).toMatch(/^layers\.1\.mixer, forward/);
    expect(await s.step('continue')).toMatchObject({
      description: 'Paused at gradient of selective_scan entry',
      text: 'layers.0.mixer, backward: layer == 0 and pass_ == "backward" (hit 1)',
    });
    expect(await s.evaluate('pass_')).toBe('"backward"');
  });

  it('is gone through time in a scan against time, forth and back bit-equal', async () => {
    const s = await session().start(BACKWARD, { functions: [{ name: 'grad:selective_scan' }] });
    await s.stopped();
    await s.step('stepIn');
    const seen: unknown[] = [];
    const look = async () => {
      const step = await s.scope('Step');
      return [(await s.stack())[0].name, Object.values(step).map((v) => `${v.name} = ${v.value}`)];
    };
    const [top] = await s.stack();
    const last = Number(/t (\d+)$/.exec(top.name)![1]);
    expect(top.name).toBe(`gradient of selective_scan · backward · t ${last}`);
    expect(top.source?.name).toBe('recurrenceBackward.ts');
    expect((await readFile(top.source!.path!, 'utf8')).split('\n')[top.line - 1]).toContain(
      'dh[i] = C_t * ds_t + dh_next[i];',
    );
    const step = await s.scope('Step');
    expect(step['t'].value).toBe(String(last));
    expect(step['difference to the kernel'].value).toMatch(
      /^(0|\d[\d.]*e-\d+|0\.000\d+) of [\d.e-]+ \(d(u|delta|B|C|z)\)$/,
    );
    expect(Object.keys(step)).toEqual(
      expect.arrayContaining([
        'dh',
        'dh_prev',
        'dy_t',
        'du_t',
        'ddelta_t',
        'dB_t',
        'dC_t',
        'decay',
        'h_prev',
      ]),
    );
    expect(await s.evaluate('rel(dh * decay, dh_prev) < 1e-6')).toBe('True');
    for (let i = 0; i < 18; i++) {
      seen.push(await look());
      await s.step('next');
    }
    expect((await s.stack())[0].name).toBe(`gradient of selective_scan · backward · t ${last - 18}`);
    for (const earlier of seen.reverse()) {
      await s.step('stepBack');
      expect(await look()).toEqual(earlier);
    }
    await s.step('stepOut');
    expect((await s.stack())[0].name).not.toContain('selective_scan · backward');
  });

  it('runs back through the steps of a scan, and out of the backward pass', async () => {
    const s = await session().start(BACKWARD, {
      functions: [
        {
          name: 'grad:selective_scan:step',
          condition: 'layer == 0 and direction == "forward" and t in (2, 4)',
        },
        { name: 'head', condition: 'x.absmax() > 0' },
      ],
    });
    const forward = await s.stopped();
    expect(forward.description).toBe('Paused at head entry');
    expect(await s.step('continue')).toMatchObject({
      description: 'Paused at gradient of selective_scan step 4',
    });
    expect(await s.step('continue')).toMatchObject({
      description: 'Paused at gradient of selective_scan step 2',
    });
    expect(await s.step('reverseContinue')).toMatchObject({
      description: 'Paused at gradient of selective_scan step 4',
    });
    expect((await s.step('reverseContinue')).text).toBe(forward.text);
    expect(await s.step('reverseContinue')).toMatchObject({ reason: 'entry' });
  });

  it('starts from the next tokens in a language model', async () => {
    const s = await session().start(
      { model: `${ROOT}test/fixtures/lm/tied`, text: 'The step delta chooses the state.', backward: true },
      { functions: [{ name: 'grad:embedding.weight', condition: 'grad.norm() > 0' }] },
    );
    expect((await s.stopped()).text).toMatch(/^embedding\.weight: grad\.norm\(\) = [\d.]+ > 0/);
    expect((await s.stack()).map((f) => f.name).at(-1)).toBe('gradient of MambaLM');
    await s.client.request('continue', { threadId: 1 });
    await s.terminated();
    expect(s.console).toMatch(/^Loss \d/m);
    expect(s.console).toMatch(/^next "/m);
  });

  it('finds a NaN that only the backward pass makes', async () => {
    // sqrt-free models make NaN backward from an infinite weight that a zero activation hides going forward.
    const checkpoint = plant(DIGITS.checkpoint, 'head.bias', 0, Infinity);
    const s = await session().start({ ...BACKWARD, checkpoint }, { filters: ['nan'] });
    expect((await s.stopped()).text).toMatch(/NaN, first at/);
  });

  it.each([
    [{ backward: true, label: undefined }, /needs the class of the image; give "label"/],
    [{ backward: true, label: 10 }, /Label 10 is not one of the 10 classes, 0 to 9/],
  ])('is refused without a class: %j', async (changes, message) => {
    const { client } = session();
    await client.request('initialize', { adapterID: 'mamba' });
    await expect(client.request('launch', { ...DIGITS, ...changes })).rejects.toThrow(message);
  });
});
