import { beforeAll, describe, expect, it } from 'vitest';
import { framesAt } from '../../../runtime/engine/frames';
import { levelsAt, tensorsOf } from '../../../runtime/engine/names';
import { parseBreakpointName } from '../../../src/protocol/breakpointSpec';
import { Debugged, goldenRequest } from './debugged';

const CASE = 'vim_v2_midcls_div2';

/** The texts of all stops of a run. */
async function stopsOf(...breakpoints: string[]): Promise<string[]> {
  const d = await Debugged.load(goldenRequest(CASE));
  expect(d.set(...breakpoints).map((r) => r.message)).toEqual(breakpoints.map(() => undefined));
  const texts: string[] = [];
  for (let stop = await d.go(); stop; stop = await d.go()) texts.push(`${stop.description} | ${stop.text}`);
  expect(d.messages).toEqual([]);
  return texts;
}

describe('breakpoints in the backward pass', () => {
  let forward: string[];
  beforeAll(async () => {
    forward = await stopsOf('selective_scan');
  });

  it('are asked for by name, and a plain name means the forward pass', async () => {
    expect(forward.length).toBeGreaterThan(1);
    expect(forward.every((text) => text.startsWith('Paused at selective_scan entry'))).toBe(true);
    const backward = await stopsOf('grad:selective_scan');
    expect(backward).toEqual(
      forward
        .toReversed()
        .map((text, i) =>
          text
            .replace('selective_scan entry', 'gradient of selective_scan entry')
            .replace(/hit \d+/, `hit ${i + 1}`),
        ),
    );
  });

  it('are asked for by a condition over pass_, which watches both', async () => {
    const backward = await stopsOf('selective_scan if pass_ == "backward"');
    expect(backward.map((text) => text.split(':')[0])).toEqual(
      forward
        .toReversed()
        .map(
          (text) =>
            text
              .replace('selective_scan entry', 'gradient of selective_scan entry')
              .replace(/ \(hit.*/, ' (hit')
              .split(' (hit')[0],
        )
        .map((text) => expect.stringContaining(text)),
    );
    expect(await stopsOf('selective_scan if pass_ in ("forward", "backward")')).toHaveLength(
      2 * forward.length,
    );
    // Names of the one pass do no harm in the other, in whatever order they stand.
    expect(await stopsOf('selective_scan:exit if y.absmax() >= 0 and pass_ == "forward"')).toHaveLength(
      forward.length,
    );
    expect(await stopsOf('selective_scan:exit if dA.absmax() >= 0 and pass_ == "backward"')).toHaveLength(
      forward.length,
    );
  });

  it('know the gradients at the exit and at the steps', async () => {
    const [exit] = await stopsOf(
      'grad:selective_scan:exit if dA.norm() > 0 and du.absmax() >= 0 and nan(dB) == 0 and dC.norm() > 0 and dy.norm() > 0 and delta.min() > 0 and layer == 0',
    );
    expect(exit).toMatch(
      /^Paused at gradient of selective_scan exit \| layers\.0\.mixer, backward: dA\.norm\(\) = /,
    );
    const steps = await stopsOf(
      'grad:selective_scan:step if t in (2, 0) and dh.absmax() > 0 and layer == 0 and direction == "forward"',
    );
    expect(steps.map((text) => text.split(' | ')[0])).toEqual([
      'Paused at gradient of selective_scan step 2',
      'Paused at gradient of selective_scan step 0',
    ]);
    expect(await stopsOf('selective_scan:step if pass_ == "backward" and t == 1')).toHaveLength(
      forward.length,
    );
    expect(await stopsOf('grad:causal_conv1d:exit if dweight.norm() >= 0')).toHaveLength(forward.length);
  });

  it('stop at layers and modules by glob', async () => {
    const layers = await stopsOf('grad:layers.*.mixer.in_proj:exit if dweight.norm() > 0 and dx.norm() > 0');
    expect(layers[0]).toMatch(
      /^Paused at gradient of in_proj exit \| layers\.1\.mixer\.in_proj: dweight\.norm\(\)/,
    );
    expect(layers).toHaveLength(2);
    const modules = await stopsOf('grad:layers.*:entry');
    expect(modules).toHaveLength(2);
    expect(await stopsOf('layers.*')).toHaveLength(2);
    expect(await stopsOf('layers.*.mixer if pass_ == "backward"')).toHaveLength(2);
  });

  it('are refused with a sentence that says what to write', async () => {
    const d = await Debugged.load(goldenRequest(CASE));
    const messages = d
      .set(
        'grad:layers.0.mixer',
        'grad:selective_scan if y.max() > 0',
        'grad:selective_scan:step if kept.max() > 1',
      )
      .map((r) => r.message);
    expect(messages[0]).toBe(
      '"layers.0.mixer" is a module; write grad:layers.0.mixer:entry or :exit for it in the backward pass, or the name of a parameter.',
    );
    expect(messages[1]).toContain('y is not known here');
    expect(messages[2]).toContain('kept is not known here');
    expect(() => d.set('grad:causal_conv1d:step')).toThrow('Only selective_scan has steps');
    expect(d.set('selective_scan if pass == "backward"')[0].message).toBe(
      '"pass" is a statement of Python; write pass_ == "backward", or grad: before the name.',
    );
    const without = await Debugged.load({ ...goldenRequest(CASE), backward: false });
    for (const name of ['grad:selective_scan', 'grad:layers.0:entry', 'grad:head.bias'])
      expect(without.set(name)[0].message).toContain('This run has no backward pass; set "backward" to true');
  });
});

describe('the name of a breakpoint in the backward pass', () => {
  it.each([
    [
      'grad:selective_scan',
      { kind: 'boundary', boundary: 'selective_scan', phase: 'entry', pass: 'backward' },
    ],
    [
      'grad:selective_scan:step',
      { kind: 'boundary', boundary: 'selective_scan', phase: 'step', pass: 'backward' },
    ],
    [
      'grad:causal_conv1d:exit',
      { kind: 'boundary', boundary: 'causal_conv1d', phase: 'exit', pass: 'backward' },
    ],
    ['grad:layers.*.mixer:exit', { kind: 'module', glob: 'layers.*.mixer', phase: 'exit', pass: 'backward' }],
    ['grad:layers.0.mixer.A_log', { kind: 'gradient', glob: 'layers.0.mixer.A_log' }],
    ['selective_scan', { kind: 'boundary', boundary: 'selective_scan', phase: 'entry' }],
  ])('%s', (name, target) => expect(parseBreakpointName(name)).toEqual(target));

  it.each([
    ['grad:', '"grad:" does not name a parameter'],
    ['grad:selective_scan:exti', '":exti" in "selective_scan:exti" is not known'],
    ['grad:layers.0:step', 'Only selective_scan has steps; "layers.0" takes :entry or :exit.'],
    ['grad::exit', 'The breakpoint has no name'],
  ])('%s is refused', (name, words) => expect(() => parseBreakpointName(name)).toThrow(words));
});

describe('a scan opened in the backward pass', () => {
  it('goes against time, names its forward site, and shows the step', async () => {
    const d = await Debugged.load(goldenRequest(CASE));
    d.set('grad:selective_scan if layer == 1 and direction == "backward"');
    await d.go();
    await d.go('stepIn');
    const last = d.state.scan!.first;
    expect(d.state.position).toMatchObject({ phase: 'inside', t: last });
    const [frame, ...outer] = framesAt(d.state);
    expect(frame.name).toBe(`gradient of selective_scan · backward · t ${last}`);
    expect(frame.place?.source).toBe('runtime/models/recurrenceBackward.ts');
    expect(frame.site).toMatchObject({
      module: 'layers.1.mixer',
      op: 'selective_scan',
      t: last,
      pass: 'backward',
    });
    expect(outer[0]).toMatchObject({
      name: 'gradient of Mamba layers.1.mixer',
      place: { source: 'runtime/models/mixer.ts' },
    });
    const names = [...tensorsOf(d.state, levelsAt(d.state)[0])]
      .filter((t) => t.role === 'step')
      .map((t) => t.name);
    expect(names).toEqual(
      expect.arrayContaining([
        'dh',
        'dh_prev',
        'du_t',
        'ddelta_t',
        'dB_t',
        'dC_t',
        'dy_t',
        'decay',
        'h_prev',
        'written',
      ]),
    );
    await d.go('next');
    expect(d.state.position.t).toBe(last - 1);
  });

  it('agrees with the kernel at every step, and is bit-equal going back', async () => {
    const d = await Debugged.load(goldenRequest(CASE));
    d.set('grad:selective_scan if layer == 0');
    await d.go();
    const look = () => d.state.scan!.tensors().map(([name, x]) => [name, x.toArray().slice()]);
    const seen: unknown[] = [];
    await d.go('stepIn');
    while (d.state.position.phase === 'inside') {
      const { difference, scale } = d.state.scan!.difference();
      expect(difference).toBeLessThanOrEqual(1e-5 * scale);
      seen.push(look());
      await d.go('next');
    }
    expect(seen).toHaveLength(17);
    // A step back over the op does not open it; stepping into it from its end is what reverse steps do.
    d.set('grad:selective_scan:step');
    for (let i = seen.length - 1; i >= 0; i--) {
      await d.go('reverseContinue');
      expect(look()).toEqual(seen[i]);
    }
  });

  it('is not opened by a breakpoint on the steps of the forward pass', async () => {
    const d = await Debugged.load(goldenRequest(CASE));
    d.set('selective_scan:step if t == 0', 'grad:layers.0.mixer.D');
    let last = '';
    for (let stop = await d.go(); stop; stop = await d.go()) {
      last = stop.description;
      if (last === 'Paused at gradient') break;
    }
    expect(last).toBe('Paused at gradient');
  });
});
