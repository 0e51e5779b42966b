import { describe, expect, it } from 'vitest';
import { DIGITS, session } from './session';

describe('boundary breakpoints', () => {
  it('stop at the entry of every scan, and say which', async () => {
    const s = await session().start(DIGITS, { functions: [{ name: 'selective_scan' }] });
    expect(s.functionAnswers).toMatchObject([{ verified: true }]);
    const stop = await s.stopped();
    expect(stop).toMatchObject({
      reason: 'function breakpoint',
      description: 'Paused at selective_scan entry',
    });
    expect(stop.text).toBe('layers.0.mixer, forward (hit 1)');
    expect(stop.hitBreakpointIds).toEqual([s.functionAnswers[0].id]);
    expect((await s.step('continue')).text).toBe('layers.0.mixer, backward (hit 2)');
  });

  it('stop where a condition over tensors and words holds, with the numbers in the text', async () => {
    const condition = 'layer == 1 and direction == "backward" and delta.max() > 0';
    const s = await session().start(DIGITS, { functions: [{ name: 'selective_scan', condition }] });
    const stop = await s.stopped();
    expect(stop.text).toMatch(/^layers\.1\.mixer, backward: delta\.max\(\) = [\d.e-]+ > 0 \(hit 1\)$/);
    expect(await s.evaluate('layer')).toBe('1');
    expect(await s.evaluate('direction')).toBe('"backward"');
    await s.client.request('continue', { threadId: 1 });
    await s.terminated();
  });

  it('stop at the exit with the output, and at the steps with the state', async () => {
    const s = await session().start(DIGITS, {
      functions: [
        { name: 'selective_scan:exit', hitCondition: '2' },
        { name: 'selective_scan:step', condition: 't == 5 and layer == 0' },
      ],
    });
    expect(await s.stopped()).toMatchObject({ description: 'Paused at selective_scan step 5' });
    expect(Object.keys(await s.scope('Step'))).toEqual(
      expect.arrayContaining(['t', 'h', 'u_t', 'delta_t', 'decay', 'kept', 'written', 'y_t']),
    );
    // The other direction's step 5 comes before its exit.
    expect(await s.step('continue')).toMatchObject({
      description: 'Paused at selective_scan step 5',
      text: expect.stringContaining('backward'),
    });
    expect(await s.step('continue')).toMatchObject({ description: 'Paused at selective_scan exit' });
    expect(Object.keys(await s.scope('Scan'))).toEqual(['u', 'delta', 'A', 'B', 'C', 'D', 'z', 'y']);
  });

  it('count hits', async () => {
    const s = await session().start(DIGITS, { functions: [{ name: 'causal_conv1d', hitCondition: '% 3' }] });
    expect((await s.stopped()).text).toContain('(hit 3)');
    expect((await s.step('continue')).text).toContain('(hit 6)');
  });

  it('write log messages and do not stop', async () => {
    const logMessage = 'layer {layer} {direction}: {delta.max()} {{x}}';
    const name = `selective_scan | log ${logMessage}`;
    const s = await session().start(DIGITS, { functions: [{ name, condition: 'layer == 0' }] });
    await s.terminated();
    expect(s.console).toMatch(/layer 0 forward: [\d.e-]+ \{x\}\nlayer 0 backward: [\d.e-]+ \{x\}\n/);
  });
});

describe('breakpoints that cannot be set', () => {
  const wrong: [string, object, RegExp][] = [
    ['an unknown module', { name: 'layers.99.mixer' }, /No module of this model matches "layers\.99\.mixer"/],
    ['a misspelt phase', { name: 'selective_scan:exti' }, /":exti".*:entry, :exit or :step/],
    ['steps of something without steps', { name: 'causal_conv1d:step' }, /Only selective_scan has steps/],
    [
      'a condition with a wrong name',
      { name: 'selective_scan', condition: 'detla.max() > 1' },
      /detla.*delta/,
    ],
    ['a condition that is not an expression', { name: 'selective_scan', condition: 'delta >' }, /./],
    ['an assignment', { name: 'selective_scan', condition: 'layer = 3' }, /==/],
    ['a wrong hit count', { name: 'selective_scan', hitCondition: 'often' }, /hit count "often".*% 10/],
    ['an open brace', { name: 'selective_scan | log {delta' }, /without its "}"/],
  ];
  it.each(wrong)('%s', async (_, breakpoint, message) => {
    const s = await session().start(DIGITS, { functions: [breakpoint as { name: string }] });
    expect(s.functionAnswers[0].verified).toBe(false);
    expect(s.functionAnswers[0].message).toMatch(message);
    await s.terminated();
  });

  it('a condition without a truth value is reported once and never stops', async () => {
    const s = await session().start(DIGITS, {
      functions: [{ name: 'selective_scan', condition: 'delta > 0' }],
    });
    await s.terminated();
    expect(
      s.console.match(/The breakpoint "selective_scan" is not used: .*no single truth value/g),
    ).toHaveLength(1);
    const changed = await s.client.event('breakpoint');
    expect(changed.body).toMatchObject({ reason: 'changed', breakpoint: { verified: false } });
  });
});

describe('module breakpoints', () => {
  it('stop where a module is entered, at the line that calls it', async () => {
    const s = await session().start(DIGITS, { functions: [{ name: 'layers.1.mixer' }] });
    expect(await s.stopped()).toMatchObject({ description: 'Paused at layers.1 entry' });
    expect((await s.stack()).map((f) => f.name)).toEqual(['Block layers.1', 'VisionMamba']);
  });

  it('stop at layers without code of their own, by glob, and at the exit with the output', async () => {
    const s = await session().start(DIGITS, { functions: [{ name: 'layers.*.norm:exit' }] });
    expect(await s.stopped()).toMatchObject({
      description: 'Paused at norm exit',
      text: 'layers.0.norm (hit 1)',
    });
    expect(Object.keys(await s.scope('Inputs and outputs'))).toEqual(['x', 'y']);
    expect((await s.step('continue')).text).toBe('layers.1.norm (hit 2)');
  });
});

describe('launch breakpoints', () => {
  it('work like those of the client, and a wrong one is reported', async () => {
    const breakpoints = [{ name: 'selective_scan', condition: 'layer == 1' }, { name: 'layers.77' }];
    const s = await session().start({ ...DIGITS, breakpoints });
    expect((await s.stopped()).text).toContain('layers.1.mixer, forward');
    expect(s.console).toMatch(
      /The breakpoint "layers\.77" of the launch configuration cannot be set: No module/,
    );
  });

  it('are not used without debugging', async () => {
    const s = await session().start({
      ...DIGITS,
      noDebug: true,
      stopOnEntry: true,
      breakpoints: [{ name: 'selective_scan' }],
    });
    await s.terminated();
  });
});
