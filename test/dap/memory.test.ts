import { describe, expect, it } from 'vitest';
import { DIGITS, session } from './session';

const TRAINING = { ...DIGITS, label: 7, backward: true, memoryLimit: 1 };

describe('a run that may keep little', () => {
  it('shows the same numbers on the way back as on the way there', async () => {
    const s = await session().start(TRAINING, {
      functions: [{ name: 'selective_scan:exit' }, { name: 'grad:selective_scan:exit' }],
    });
    expect(s.console).toMatch(
      /Stepping back in this model needs [\d.]+ MB, so that is used instead of 1 MB\./,
    );
    // Expressions are computed anew each time, unlike the summaries of the Variables view.
    const look = () =>
      Promise.all(['delta.sum()', 'u[0, 5].norm()', '(B * C).mean()'].map((e) => s.evaluate(e)));
    const seen: unknown[] = [];
    await s.stopped();
    for (let i = 0; i < 11; i++) {
      seen.push(await look());
      await s.step('continue');
    }
    expect(new Set(seen.map(String)).size).toBeGreaterThan(5);
    for (let i = 10; i >= 0; i--) {
      await s.step('reverseContinue');
      expect(await look()).toEqual(seen[i]);
    }
  });

  it('opens a scan whose inputs were dropped, and steps in it', async () => {
    const s = await session().start(TRAINING, {
      functions: [{ name: 'selective_scan' }, { name: 'grad:head.weight' }],
    });
    await s.stopped();
    await s.step('stepIn');
    const first = await s.scope('Step');
    await s.client.request('setFunctionBreakpoints', {
      breakpoints: [{ name: 'grad:layers.0.mixer.A_log' }],
    });
    await s.step('continue');
    await s.client.request('setFunctionBreakpoints', { breakpoints: [{ name: 'selective_scan' }] });
    for (let stop = await s.step('reverseContinue'); stop.reason !== 'entry'; ) {
      const { text } = stop;
      if (text?.startsWith('layers.0.mixer, forward')) break;
      stop = await s.step('reverseContinue');
    }
    await s.step('stepIn');
    expect(await s.scope('Step')).toEqual(first);
  });
});
