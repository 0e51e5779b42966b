import { readFileSync } from 'node:fs';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { DIGITS, type Session, session } from './session';

async function top(s: Session): Promise<string> {
  return (await s.stack())[0].name;
}

/** Everything that a person can see of the top frame, to compare moments. */
async function snapshot(s: Session): Promise<unknown> {
  const [frame] = await s.stack();
  const { scopes } = await s.client.request<DebugProtocol.ScopesResponse['body']>('scopes', {
    frameId: frame.id,
  });
  const lines: Record<string, string[]> = {};
  for (const scope of scopes) {
    lines[scope.name] = Object.values(await s.children(scope.variablesReference)).map(
      (v) => `${v.name} = ${v.value}`,
    );
  }
  return { name: frame.name, line: frame.line, lines };
}

describe('stepping over ops and modules', () => {
  it('stops on entry at the first op', async () => {
    const s = await session().start({ ...DIGITS, stopOnEntry: true });
    expect(await s.stopped()).toMatchObject({ reason: 'entry' });
    expect(await top(s)).toBe('proj · patch_embed');
  });

  it('next steps over modules, stepIn goes into them, stepOut leaves them', async () => {
    const s = await session().start({ ...DIGITS, stopOnEntry: true });
    await s.stopped();
    while ((await top(s)) !== 'VisionMamba') await s.step('next');
    await s.step('next');
    expect(await top(s)).toBe('VisionMamba');
    await s.step('stepIn');
    expect((await s.stack()).map((f) => f.name).slice(-2)).toEqual(['Block layers.1', 'VisionMamba']);
    await s.step('stepOut');
    expect(await top(s)).toBe('VisionMamba');
  });

  it('runs to the end when the last op is stepped over', async () => {
    const s = await session().start(DIGITS, { functions: [{ name: 'head' }] });
    await s.stopped();
    await s.client.request('next', { threadId: 1 });
    await s.terminated();
    expect(s.console).toMatch(/7 \d+(\.\d+)? %/);
  });
});

describe('stepping through time in a scan', () => {
  it('moves an open scan to a time step, forward and back, and says which there are', async () => {
    const s = await session().start(DIGITS, { functions: [{ name: 'selective_scan' }] });
    await s.stopped();
    const seek = (t: number) => s.client.request('mamba/seekScan', { t });
    await expect(seek(3)).rejects.toThrow('No scan is open; stop at selective_scan and step into it.');
    await s.step('stepIn');
    const first = await snapshot(s);
    await seek(40);
    await s.stopped();
    expect(await top(s)).toBe('selective_scan · forward · t 40');
    await seek(0);
    await s.stopped();
    expect(await snapshot(s)).toEqual(first);
    await expect(seek(65)).rejects.toThrow('The scan has the time steps 0 to 64.');
  });

  it('goes into the scan, forward step by step, and out', async () => {
    const s = await session().start(DIGITS, { functions: [{ name: 'selective_scan' }] });
    await s.stopped();
    await s.step('stepIn');
    expect(await top(s)).toBe('selective_scan · forward · t 0');
    const [{ source, line }] = await s.stack();
    expect(source?.name).toBe('recurrence.ts');
    expect(readFileSync(source!.path!, 'utf8').split('\n')[line - 1]).toContain(
      'h[i] = kept[i] + written[i];',
    );
    await s.step('next');
    await s.step('next');
    await s.step('next');
    expect(await top(s)).toBe('selective_scan · forward · t 3');
    const step = await s.scope('Step');
    expect(step['t'].value).toBe('3');
    expect(step['difference to the kernel'].value).toMatch(/^(0|\d[\d.]*e-\d+|0\.000\d+) of /);
    await s.step('stepBack');
    expect(await top(s)).toBe('selective_scan · forward · t 2');
    await s.step('stepOut');
    expect(await top(s)).not.toContain('selective_scan · forward');
  });

  it('shows the recurrence: h is what was kept plus what was written', async () => {
    const s = await session().start(DIGITS, {
      functions: [{ name: 'selective_scan:step', condition: 't == 7' }],
    });
    await s.stopped();
    expect(await s.evaluate('rel(kept + written, h) < 1e-6')).toBe('True');
    expect(await s.evaluate('absmax(h - kept - written) < 1e-6 and h.shape[1] == u_t.shape[1]')).toBe('True');
  });

  it('goes back bit-equal to what was seen before', async () => {
    const s = await session().start(DIGITS, { functions: [{ name: 'selective_scan', hitCondition: '3' }] });
    await s.stopped();
    const seen = [await snapshot(s)];
    for (const command of ['stepIn', ...Array(20).fill('next')]) {
      await s.step(command);
      seen.push(await snapshot(s));
    }
    for (let i = seen.length - 2; i >= 0; i--) {
      await s.step('stepBack');
      expect(await snapshot(s)).toEqual(seen[i]);
    }
  });
});

describe('going back', () => {
  it('steps back over ops to the same tensors', async () => {
    const s = await session().start(DIGITS, { functions: [{ name: 'layers.1.mixer.in_proj' }] });
    await s.stopped();
    const seen: unknown[] = [];
    for (let i = 0; i < 12; i++) {
      seen.push(await snapshot(s));
      await s.step('next');
    }
    for (const earlier of seen.reverse()) {
      await s.step('stepBack');
      expect(await snapshot(s)).toEqual(earlier);
    }
  });

  it('runs back to the breakpoint before, with its hit number, and to the start', async () => {
    const s = await session().start(DIGITS, { functions: [{ name: 'selective_scan' }] });
    const first = await s.stopped();
    const second = await s.step('continue');
    await s.step('continue');
    expect((await s.step('reverseContinue')).text).toBe(second.text);
    expect((await s.step('reverseContinue')).text).toBe(first.text);
    expect(await s.step('reverseContinue')).toMatchObject({ reason: 'entry' });
    expect((await s.step('continue')).text).toBe(first.text);
  });

  it('runs back through the steps of a scan', async () => {
    const s = await session().start(DIGITS, {
      functions: [{ name: 'selective_scan:step', condition: 't in (2, 4)' }],
    });
    await s.stopped();
    await s.step('continue');
    expect(await top(s)).toBe('selective_scan · forward · t 4');
    await s.step('reverseContinue');
    expect(await top(s)).toBe('selective_scan · forward · t 2');
  });
});
