import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../dap/client';
import { DIGITS } from '../dap/session';
import { plant } from '../plantedCheckpoint';
import { fixture, readFixture, readTensors } from '../unit/fixtures';

const folder = mkdtempSync(join(tmpdir(), 'scanpoint-cli-'));
const DIGIT = [DIGITS.model, '--checkpoint', DIGITS.checkpoint, '--input', DIGITS.input];

function scanpoint(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${ROOT}dist/cli.js`, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('scanpoint run', () => {
  it('runs a model and names the class', () => {
    const { status, stdout } = scanpoint('run', ...DIGIT, '--label', '7');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^vim_digits: 66,874 parameters/);
    expect(stdout).toMatch(/^7 9\d\.\d % .*\(as labelled\)$/m);
    expect(stdout).toMatch(/finished after [\d.e-]+ s, 0 hits\.$/m);
  });

  it('reports breakpoints with their numbers, log messages, and fails on hits when asked', () => {
    const breaks = [
      '--break',
      'selective_scan if delta.max() > 0.1 and layer == 1',
      '--break',
      'head | log x {x.max()}',
    ];
    const { status, stdout } = scanpoint('run', ...DIGIT, ...breaks, '--fail-on-hit');
    expect(status).toBe(3);
    expect(stdout).toMatch(
      /^Paused at selective_scan entry: layers\.1\.mixer, forward: delta\.max\(\) = [\d.]+ > 0\.1 \(hit 1\)$/m,
    );
    expect(stdout).toMatch(/^x [\d.]+$/m);
    expect(scanpoint('run', ...DIGIT, ...breaks).status).toBe(0);
    expect(
      scanpoint('run', ...DIGIT, '--break', 'selective_scan if delta.max() > 1e9', '--fail-on-hit').status,
    ).toBe(0);
  });

  it('speaks JSON', () => {
    const { status, stdout } = scanpoint(
      'run',
      ...DIGIT,
      '--label',
      '7',
      '--backward',
      '--json',
      '--break',
      'grad:head.bias',
    );
    expect(status).toBe(0);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      model: 'vim_digits',
      parameters: 66874,
      hits: [{ site: 'head:linear grad', text: 'head.bias (hit 1)' }],
    });
    expect(report.loss).toBeGreaterThan(0);
    expect(
      report.gradients.find((g: { name: string }) => g.name === 'layers.0.mixer.A_log').norm,
    ).toBeGreaterThan(0);
  });

  it('starts the gradients from any loss', () => {
    const { status, stdout } = scanpoint('run', ...DIGIT, '--loss', 'logits[0, 3] - logits.mean()', '--json');
    expect(status).toBe(0);
    const report = JSON.parse(stdout);
    expect(report.notes).toContain('The backward pass starts from the loss logits[0, 3] - logits.mean().');
    const norm = (name: string) => report.gradients.find((g: { name: string }) => g.name === name).norm;
    expect(norm('head.bias')).toBeCloseTo(Math.sqrt(0.9 ** 2 + 9 * 0.1 ** 2), 6);
    expect(norm('layers.0.mixer.A_log')).toBeGreaterThan(0);
  });

  it('finds a planted NaN', () => {
    const checkpoint = plant(DIGITS.checkpoint, 'layers.2.mixer.A_log', 11, Number.NaN);
    const { status, stdout } = scanpoint(
      'run',
      DIGITS.model,
      '--checkpoint',
      checkpoint,
      '--input',
      DIGITS.input,
      '--break-on',
      'nan,inf',
      '--fail-on-hit',
    );
    expect(status).toBe(3);
    expect(stdout).toMatch(
      /^Paused on NaN: layers\.2\.mixer:exp forward: y has 1 NaN, first at \[D 1, N 3\], from layers\.2\.mixer\.A_log \[D 1, N 3\]$/m,
    );
  });

  it.each(['vim_v2_midcls_div2', 'vim_v1_doublecls', 'vim_none_bidirectional_meanpool'])(
    '--save writes all that the original gives for %s',
    async (name) => {
      const manifest = JSON.parse(readFileSync(fixture('golden/vim_manifest.json'), 'utf8'));
      const model = join(folder, `${name}.json`);
      const saved = join(folder, `${name}.safetensors`);
      writeFileSync(model, JSON.stringify(manifest[name].config));
      const files = [
        '--checkpoint',
        fixture(`golden/${name}.weights.safetensors`),
        '--input',
        fixture(`golden/${name}.golden.safetensors`),
      ];
      expect(scanpoint('run', model, ...files, '--backward', '--save', saved)).toMatchObject({
        status: 0,
        stderr: '',
      });
      const golden = await readFixture(`golden/${name}.golden.safetensors`);
      const mine = await readTensors(saved);
      for (const [key, { shape, data }] of Object.entries(golden)) {
        expect(mine[key]?.shape, key).toEqual(shape);
        const largest = data.reduce((m, x) => Math.max(m, Math.abs(x)), 1);
        const worst = data.reduce((m, x, i) => Math.max(m, Math.abs(x - mine[key].data[i])), 0);
        expect(worst, key).toBeLessThan(1e-4 * largest);
      }
    },
  );
});

describe('bad command lines and files', () => {
  const wrong: [string, string[], RegExp][] = [
    ['an unknown command', ['fly'], /no command "fly"/],
    ['no model', ['run'], /"scanpoint run" needs a model/],
    ['two models', ['run', 'a', 'b'], /takes one model, not 2/],
    ['an unknown flag', ['run', 'x', '--sped'], /--sped/],
    [
      'a label that is no number',
      ['run', ...DIGIT, '--label', 'seven'],
      /--label takes a whole number from 0, not "seven"/,
    ],
    [
      'a breakpoint that is nowhere',
      ['run', ...DIGIT, '--break', 'layers.77'],
      /--break 1: No module of this model matches "layers.77"/,
    ],
    [
      'a condition with a wrong name',
      ['run', ...DIGIT, '--break', 'selective_scan if detla.max() > 1'],
      /--break 1: .*detla/,
    ],
    ['a filter that is not known', ['run', ...DIGIT, '--break-on', 'zero'], /--break-on knows nan, inf/],
    [
      'a model that is not known',
      ['run', 'resnet50'],
      /"resnet50" is neither a file nor a published model name/,
    ],
    ['a checkpoint that is not there', ['run', DIGITS.model, '--checkpoint', '/nowhere.pth'], /nowhere\.pth/],
    ['a loss that is no number', ['run', ...DIGIT, '--loss', 'logits[0]'], /gives a tensor of shape \[10\]/],
    ['a backward pass without a class', ['run', ...DIGIT, '--backward'], /give "label"/],
  ];
  it.each(wrong)('%s', (_, args, message) => {
    const { status, stderr } = scanpoint(...args);
    expect(status).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^scanpoint: /);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  it('without arguments the usage is shown', () => {
    expect(scanpoint('--help')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('--fail-on-hit'),
    });
    expect(scanpoint().status).toBe(1);
  });
});
