import { describe, expect, it } from 'vitest';
import type { Stop } from '../../../runtime/engine/debugger';
import type { FilterName } from '../../../runtime/engine/finding';
import { plant } from '../../plantedCheckpoint';
import { fixture, readFixture } from '../fixtures';
import { Debugged, goldenRequest } from './debugged';
import { type Scan, scanned } from './scanned';

const CASE = 'vim_v2_midcls_div2';
const WEIGHTS = fixture(`golden/${CASE}.weights.safetensors`);

/** The first stop of a run with changed parameters: name, row-major element and value of each. */
async function firstStop(filter: FilterName, ...changes: [string, number, number][]): Promise<Stop> {
  const path = changes.reduce((file, [name, element, value]) => plant(file, name, element, value), WEIGHTS);
  const d = await Debugged.load(goldenRequest(CASE, path));
  d.filter(filter);
  return (await d.go())!;
}

/** Row-major position of an index. */
const elementOf = (shape: readonly number[], index: readonly number[]) =>
  index.reduce((at, i, axis) => at * shape[axis] + i, 0);

describe('a NaN planted at one address', () => {
  // Parameter, index, how the address is written, and the op that reads it first.
  it.each([
    ['layers.1.mixer.A_log', [5, 3], '[D 5, N 3]', 'layers.1.mixer:exp forward'],
    ['layers.0.mixer.A_b_log', [7, 0], '[D 7, N 0]', 'layers.0.mixer:exp backward'],
    ['layers.1.mixer.D', [9], '[D 9]', 'layers.1.mixer:selective_scan forward'],
    ['layers.0.mixer.D_b', [2], '[D 2]', 'layers.0.mixer:selective_scan backward'],
    ['layers.1.mixer.conv1d.weight', [4, 0, 2], '[4, 0, 2]', 'layers.1.mixer.conv1d:causal_conv1d forward'],
    ['layers.0.mixer.conv1d_b.bias', [6], '[6]', 'layers.0.mixer.conv1d_b:causal_conv1d backward'],
    ['layers.1.mixer.x_proj.weight', [2, 11], '[2, 11]', 'layers.1.mixer.x_proj:project forward'],
    ['layers.0.mixer.dt_proj.weight', [8, 1], '[8, 1]', 'layers.0.mixer.dt_proj:project forward'],
    ['layers.1.mixer.dt_proj.bias', [8], '[8]', 'layers.1.mixer.dt_proj:project forward'],
    ['layers.1.mixer.in_proj.weight', [13, 5], '[13, 5]', 'layers.1.mixer.in_proj:project'],
    ['layers.0.mixer.out_proj.weight', [3, 10], '[3, 10]', 'layers.0.mixer.out_proj:linear'],
    ['layers.1.norm.weight', [6], '[6]', 'layers.1.norm:rms_norm'],
    ['norm_f.weight', [1], '[1]', 'norm_f:rms_norm'],
    ['pos_embed', [0, 3, 5], '[B 0, L 3, E 5]', '(model):add'],
    ['cls_token', [0, 0, 4], '[0, 0, 4]', '(model):concat'],
    ['patch_embed.proj.bias', [2], '[2]', 'patch_embed.proj:patch_embed'],
    ['head.weight', [4, 7], '[4, 7]', 'head:linear'],
    ['head.bias', [3], '[3]', 'head:linear'],
  ])('in %s %j is found there', async (name, index, address, site) => {
    const { shape } = (await readFixture(`golden/${CASE}.weights.safetensors`))[name];
    expect(index.every((i, axis) => i < shape[axis])).toBe(true);
    const stop = await firstStop('nan', [name, elementOf(shape, index), Number.NaN]);
    expect(stop.description).toBe('Paused on NaN');
    expect(stop.text).toContain(`${site}: y has `);
    expect(stop.text!.endsWith(`, from ${name} ${address}`)).toBe(true);
    expect(stop.exception!.details).toContain(
      `It comes from the parameter ${name}, which holds 1 NaN, first at ${address}.`,
    );
  });
});

describe('what is born inside a scan', () => {
  it('is Inf by D u in a model: the channel, the first t, and both factors', async () => {
    const mixer = 'layers.0.mixer';
    const stop = await firstStop('inf', [`${mixer}.D`, 5, 3e38], [`${mixer}.conv1d.bias`, 5, 40]);
    expect(stop.text).toMatch(
      /^layers\.0\.mixer:selective_scan forward: y has [\d,]+ Inf, first at \[B 0, D 5, L 0\], born here in D u at t=0 d=5$/,
    );
    expect(stop.exception!.details).toMatch(
      /It was born here: all inputs of the op are free of Inf\. Inside the scan it begins at layers\.0\.mixer:selective_scan forward t=0 d=5: D u_t is Inf, from D 3e38, u_t 4\d(\.\d+)?\. Largest magnitudes before it: /,
    );
  });

  it.each<[string, FilterName, Scan, RegExp]>([
    [
      'a decay above 1',
      'inf',
      { delta: [[1, 2, 5], 100], A: [[2, 1], 1] },
      /in decay at t=5 d=2 n=1 of batch element 1: decay = exp\(delta_t A\) is Inf, from delta_t 100, A 1$/,
    ],
    [
      'a state that grows',
      'inf',
      // e^60 each step: 1, 1e26, then beyond 1e38.
      { delta: [[0, 1, 3], 60, [0, 1, 4], 60], A: [[1, 2], 1] },
      /in kept at t=4 d=1 n=2: kept = decay h_\(t-1\) is -?Inf, from decay 1\.14e26$/,
    ],
    [
      'what a step writes',
      'inf',
      { u: [[0, 2, 4], 1e20], B: [[0, 1, 4], 1e30] },
      /in written at t=4 d=2 n=1: written = delta_t B_t u_t is Inf, from delta_t 0\.\d+, B_t 1e30, u_t 1e20$/,
    ],
    [
      'C h',
      'inf',
      { u: [[0, 2, 4], 1e20], C: [[0, 2, 4], 1e30] },
      /in C h at t=4 d=2 n=2: C_t h is -?Inf, from C_t 1e30, h -?\d.*e19$/,
    ],
    [
      'D u',
      'inf',
      { u: [[0, 1, 3], 1e20], D: [[1], 1e20] },
      /in D u at t=3 d=1: D u_t is Inf, from D 1e20, u_t 1e20$/,
    ],
    [
      'a NaN in D',
      'nan',
      { D: [[1], Number.NaN] },
      /^from scan\.D \[D 1\]: D u_t is NaN, from D NaN, u_t 0\.\d+$/,
    ],
    [
      'the gate',
      'inf',
      { u: [[0, 1, 3], 1e20], z: [[0, 1, 3], 1e20] },
      /in y at t=3 d=1: y = \(C_t h \+ D u_t\) silu\(z_t\) is -?Inf, from .*u_t 1e20, z_t 1e20$/,
    ],
  ])('is found in %s', async (_, filter, changes, expected) => {
    const stop = await scanned(changes).stop(filter);
    expect(stop.text).toMatch(/^scan:selective_scan: y has [\d,]+ (NaN|Inf), first at \[/);
    expect(origin(stop)).toMatch(expected);
  });

  it.each<[string, FilterName, Scan, RegExp]>([
    [
      'the gate of dy',
      'inf',
      { dy: [[0, 1, 3], 1e20], z: [[0, 1, 3], 1e20], u: [[0, 1, 3], 0], C: 0 },
      /in ds at t=3 d=1: ds = dy_t silu\(z_t\) is Inf, from dy_t 1e20, z_t 1e20$/,
    ],
    [
      'C ds',
      'inf',
      // The step writes nothing, so that y stays finite.
      { dy: [[0, 1, 5], 1e20], C: [[0, 2, 5], 1e25], u: 0 },
      /in C ds at t=5 d=1 n=2: C_t ds_t is -?Inf, from C_t 1e25, ds_t -?\d.*e19$/,
    ],
    [
      'a gradient that grows against time',
      'inf',
      { dy: [[0, 1, 5], 1e15], delta: [[0, 1, 5], 60, [0, 1, 4], 60], A: [[1, 2], 1], u: 0 },
      /in dh_prev at t=5 d=1 n=2: dh_prev = decay dh is -?Inf, from decay 1\.14e26, dh \d.*e13$/,
    ],
    [
      'du, by the skip',
      'inf',
      { dy: [[0, 1, 2], 1e20], D: [[1], 1e20], u: 0 },
      /in du at t=2 d=1: du = D ds_t \+ sum of delta_t B_t dh is -?Inf, from D 1e20, ds_t -?\d.*e19/,
    ],
  ])('is found in the gradient by %s', async (_, filter, changes, expected) => {
    const stop = await scanned(changes).stop(filter);
    expect(stop.text).toMatch(/^scan:selective_scan grad: d\w+ has [\d,]+ (NaN|Inf), first at \[/);
    expect(origin(stop)).toMatch(expected);
  });
});

/** `in QUANTITY at PLACE: EXPLANATION`, from the text and the details of a stop. */
function origin({ text, exception }: Stop): string {
  const [, short] = /, (?:born here )?((?:in|from) [^,]*)$/.exec(text!)!;
  const inside = /Inside the scan it begins at [^:]*:[^:]*: (.*?)\. Largest/.exec(exception!.details);
  return inside ? `${short}: ${inside[1]}` : short;
}

describe('a NaN in the input', () => {
  it('is said to come from there', async () => {
    const input = plant(fixture(`golden/${CASE}.golden.safetensors`), 'input', 7, Number.NaN);
    const d = await Debugged.load({ ...goldenRequest(CASE), input });
    d.filter('nan');
    const stop = (await d.go())!;
    expect(stop.text).toMatch(
      /^patch_embed\.proj:patch_embed: y has \d+ NaN, .*, from input \[B 0, C 0, H 0, W 7\]$/,
    );
    expect(stop.exception!.details).toContain('It comes from the input input, which holds 1 NaN');
    expect(await d.go()).toBeUndefined();
  });
});
