import { readFileSync } from 'node:fs';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { ROOT } from './client';
import { DIGITS, session } from './session';

const MIXER = `${ROOT}runtime/models/mixer.ts`;
const VIM = `${ROOT}runtime/models/vim.ts`;

/** Line number (from 1) of the first line that holds a text. */
function lineOf(path: string, text: string): number {
  const line = readFileSync(path, 'utf8')
    .split('\n')
    .findIndex((l) => l.includes(text));
  expect(line, text).toBeGreaterThan(0);
  return line + 1;
}

describe('line breakpoints', () => {
  it('stop at the line, once for each time it is reached', async () => {
    const line = lineOf(MIXER, "'in_proj'");
    const s = await session().start(DIGITS, { lines: [{ path: MIXER, breakpoints: [{ line }] }] });
    expect(s.lineAnswers).toMatchObject([{ verified: true, line }]);
    expect(await s.stopped()).toMatchObject({ reason: 'breakpoint' });
    const [top] = await s.stack();
    expect(top).toMatchObject({ line, source: { path: MIXER, name: 'mixer.ts' } });
    expect(await s.evaluate('module')).toBe('"layers.0.mixer.in_proj"');
    await s.step('continue');
    expect(await s.evaluate('module')).toBe('"layers.1.mixer.in_proj"');
  });

  it('stop in a function that is called for both directions', async () => {
    const line = lineOf(MIXER, 'p.softplus(p.project(dt');
    const s = await session().start(DIGITS, {
      lines: [{ path: MIXER, breakpoints: [{ line, condition: 'layer == 0' }] }],
    });
    await s.stopped();
    expect(await s.evaluate('direction')).toBe('"forward"');
    await s.step('continue');
    expect(await s.evaluate('direction')).toBe('"backward"');
  });

  it('stop once for a call line that runs through many ops', async () => {
    const line = lineOf(VIM, 'stream = block(p');
    const s = await session().start(DIGITS, { lines: [{ path: VIM, breakpoints: [{ line }] }] });
    await s.stopped();
    const layers = JSON.parse(readFileSync(DIGITS.model, 'utf8')).model.depth;
    for (let i = 1; i < layers; i++) await s.step('continue');
    await s.client.request('continue', { threadId: 1 });
    await s.terminated();
  });

  it('count hits, and write log messages', async () => {
    const line = lineOf(MIXER, "'in_proj'");
    const breakpoints = [
      { line, hitCondition: '2' },
      { line: lineOf(MIXER, "'out_proj'"), logMessage: 'y of {module}: {x.max() > 0}' },
    ];
    const s = await session().start(DIGITS, { lines: [{ path: MIXER, breakpoints }] });
    expect((await s.stopped()).text).toContain('layers.1.mixer.in_proj (hit 2)');
    expect(s.console).toContain('y of layers.0.mixer.out_proj: True');
    await s.client.request('continue', { threadId: 1 });
    await s.terminated();
  });

  it('move to the next line that runs, and say why when there is none', async () => {
    const comment = lineOf(MIXER, '/** One direction: xz');
    const s = await session().start(DIGITS, {
      lines: [{ path: MIXER, breakpoints: [{ line: comment }, { line: 9999 }] }],
    });
    expect(s.lineAnswers[0]).toMatchObject({
      verified: true,
      line: lineOf(MIXER, 'selection(p, xz, suffix, c);'),
    });
    expect(s.lineAnswers[1]).toMatchObject({
      verified: false,
      message: expect.stringContaining('Nothing runs in runtime/models/mixer.ts after line'),
    });
  });

  it('are refused in files that do not run', async () => {
    const s = await session().start(DIGITS, {
      lines: [{ path: '/tmp/other.ts', breakpoints: [{ line: 3 }] }],
    });
    expect(s.lineAnswers[0]).toMatchObject({
      verified: false,
      message: expect.stringContaining('not a source of the model'),
    });
  });

  it('can be set where breakpointLocations says', async () => {
    const s = await session().start({ ...DIGITS, stopOnEntry: true });
    await s.stopped();
    const line = lineOf(MIXER, "'in_proj'");
    const ask = (from: number, endLine: number) =>
      s.client.request<DebugProtocol.BreakpointLocationsResponse['body']>('breakpointLocations', {
        source: { path: MIXER },
        line: from,
        endLine,
      });
    expect(await ask(line, line)).toEqual({ breakpoints: [{ line }] });
    expect((await ask(1, 10)).breakpoints).toEqual([]);
  });
});
