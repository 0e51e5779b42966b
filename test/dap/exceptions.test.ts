import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { plant } from '../plantedCheckpoint';
import { DIGITS, session } from './session';

const exceptionInfo = 'exceptionInfo';
type Info = DebugProtocol.ExceptionInfoResponse['body'];

describe('the NaN and Inf filters', () => {
  it('stop at the op that makes the first NaN, and name the parameter that it comes from', async () => {
    const checkpoint = plant(DIGITS.checkpoint, 'layers.1.mixer.x_proj_b.weight', 70, Number.NaN);
    const s = await session().start({ ...DIGITS, checkpoint }, { filters: ['nan', 'inf'] });
    const stop = await s.stopped();
    expect(stop).toMatchObject({ reason: 'exception', description: 'Paused on NaN' });
    expect(stop.text).toMatch(
      /^layers\.1\.mixer\.x_proj_b:project backward: y has [\d,]+ NaN, first at \[B 0, D \d+, L 0\], from layers\.1\.mixer\.x_proj_b\.weight \[\d+, \d+\]$/,
    );
    const info = await s.client.request<Info>(exceptionInfo, { threadId: 1 });
    expect(info.exceptionId).toBe('NaN produced');
    expect(info.description).toMatch(
      /It comes from the parameter layers\.1\.mixer\.x_proj_b\.weight, which holds 1 NaN, first at \[\d+, \d+\]\./,
    );
    // What the NaN spoils later was not produced there.
    await s.client.request('continue', { threadId: 1 });
    await s.terminated();
    expect(s.console).toContain('The scores hold NaN');
  });

  it('tell an Inf that is born from finite inputs, and the NaN that comes of it', async () => {
    const checkpoint = plant(DIGITS.checkpoint, 'layers.0.mixer.A_log', 5, 200);
    const s = await session().start({ ...DIGITS, checkpoint }, { filters: ['inf'] });
    expect((await s.stopped()).text).toMatch(/^layers\.0\.mixer:exp forward: y has 1 Inf, first at/);
    const info = await s.client.request<Info>(exceptionInfo, { threadId: 1 });
    expect(info.description).toContain('It was born here: all inputs of the op are free of Inf.');
  });

  it('name the channel, the time step and the factor where a scan makes it', async () => {
    const checkpoint = plant(DIGITS.checkpoint, 'layers.1.mixer.D', 3, Infinity);
    const s = await session().start({ ...DIGITS, checkpoint }, { filters: ['inf', 'nan'] });
    expect((await s.stopped()).text).toMatch(
      /^layers\.1\.mixer:selective_scan forward: y has [\d,]+ Inf, first at \[B 0, D 3, L 0\], from layers\.1\.mixer\.D \[D 3\]$/,
    );
    const passed = await s.client.request<Info>(exceptionInfo, { threadId: 1 });
    expect(passed.description).toMatch(
      /It comes from the parameter layers\.1\.mixer\.D, which holds 1 Inf, first at \[D 3\]\. Inside the scan it begins at layers\.1\.mixer:selective_scan forward t=0 d=3: D u_t is -?Inf, from D Inf, u_t /,
    );
    const grown = plant(DIGITS.checkpoint, 'layers.1.mixer.D', 3, 3e38);
    const large = plant(grown, 'layers.1.mixer.conv1d.bias', 3, 500);
    const own = await session().start({ ...DIGITS, checkpoint: large }, { filters: ['inf', 'nan'] });
    expect((await own.stopped()).text).toMatch(
      /^layers\.1\.mixer:selective_scan forward: y has [\d,]+ Inf, first at \[B 0, D 3, L 0\], born here in D u at t=0 d=3$/,
    );
    const info = await own.client.request<Info>(exceptionInfo, { threadId: 1 });
    expect(info.description).toMatch(
      /It was born here: all inputs of the op are free of Inf\. Inside the scan it begins at layers\.1\.mixer:selective_scan forward t=0 d=3: D u_t is Inf, from D 3e38, u_t \d+/,
    );
  });

  it('are silent when they are off, and on a healthy model', async () => {
    const checkpoint = plant(DIGITS.checkpoint, 'layers.1.mixer.D', 0, Number.NaN);
    await (await session().start({ ...DIGITS, checkpoint }, { filters: ['inf'] })).terminated();
    await (await session().start(DIGITS, { filters: ['nan', 'inf'] })).terminated();
  });

  it('have no exception to tell of at other stops', async () => {
    const s = await session().start({ ...DIGITS, stopOnEntry: true });
    await s.stopped();
    await expect(s.client.request(exceptionInfo, { threadId: 1 })).rejects.toThrow(
      'did not stop on an exception filter',
    );
  });
});
