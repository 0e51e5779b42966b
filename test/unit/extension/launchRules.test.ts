import { describe, expect, it } from 'vitest';
import { digitsExample, photographExample } from '../../../src/extension/examples';
import {
  checkConfiguration,
  filesOf,
  isModelFile,
  normalizeConfiguration,
} from '../../../src/extension/launchRules';
import { checkpointBeside, looksLikeModel, sessionName } from '../../../src/extension/modelFiles';

describe('a launch configuration', () => {
  it.each([
    { model: 'a.json' },
    { model: { embed_dim: 192 } },
    {
      model: 'vim_tiny',
      label: 7,
      seed: 0,
      breakpoints: ['selective_scan:step', { name: 'layers.*.norm:exit', hitCondition: '% 10' }],
    },
    { model: 'a.json', backward: true, loss: '(logits ** 2).mean()' },
    { program: 'train.py', args: ['--fast'], breakpoints: ['selective_scan'] },
    { module: 'train', env: { A: 'b' } },
    { request: 'attach', connect: { port: 5678 } },
    { request: 'attach', processId: 7 },
    digitsExample('/examples'),
    photographExample('/examples'),
  ])('may be %j', (config) => expect(checkConfiguration({ ...config })).toBeUndefined());

  it.each([
    [{}, 'says neither "model" nor "program"'],
    [{ model: '' }, 'says neither'],
    [{ model: 'a.json', program: 'train.py' }, 'has a "model" and a Python program'],
    [{ program: 'train.py', console: 'here' }, '"console" in the launch configuration must be'],
    [{ request: 'attach' }, 'names no process'],
    [{ request: 'attach', connect: { port: 'x' } }, '"connect" in the attach configuration must be'],
    [{ model: 'a.json', ssh: 'gpu1' }, '("ssh") is not supported yet'],
    [{ model: 7 }, '"model" has to be a JSON file'],
    [{ model: 'a.json', checkpoint: 7 }, '"checkpoint" has to be the path of a file'],
    [{ model: 'a.json', label: -1 }, '"label" has to be a whole number from 0 up, not -1'],
    [{ model: 'a.json', loss: 3 }, '"loss" has to be an expression'],
    [{ model: 'a.json', loss: 'output.sum()' }, '"loss" has to use logits'],
    [{ model: 'a.json', seed: 1.5 }, '"seed" has to be a whole number'],
    [{ model: 'a.json', breakpoints: 'selective_scan' }, '"breakpoints" has to be a list'],
    [
      { model: 'a.json', breakpoints: ['selective_scan', 'conv:step'] },
      'Breakpoint 2 of the launch configuration: Only selective_scan has steps',
    ],
    [{ model: 'a.json', breakpoints: [{}] }, 'Breakpoint 1 of the launch configuration: it needs a "name"'],
    [{ model: 'a.json', breakpoints: [{ name: 'x', hitCondition: 'often' }] }, 'hit count'],
    [{ model: 'a.json', breakpoints: [{ name: 'x', logMessage: '{y' }] }, 'without its "}"'],
  ])('%j is refused in one sentence', (config, words) => {
    const message = checkConfiguration(config);
    expect(message).toContain(words);
    expect(message).not.toContain('\n');
  });

  it('may name breakpoints by their text alone', () => {
    const given = { model: 'a.json', breakpoints: ['selective_scan', { name: 'x' }] };
    expect(normalizeConfiguration(given).breakpoints).toEqual([{ name: 'selective_scan' }, { name: 'x' }]);
  });

  it('names files, but a published model is none', () => {
    expect(filesOf({ model: 'vim_tiny', checkpoint: 'a.pth', input: '' })).toEqual([
      { key: 'checkpoint', path: 'a.pth' },
    ]);
    expect(filesOf({ model: { depth: 2 } })).toEqual([]);
    expect(isModelFile('models/vim')).toBe(true);
    expect(isModelFile('vim.JSON')).toBe(true);
  });
});

describe('model files', () => {
  it.each([
    ['{"embed_dim": 192, "depth": 24}', true],
    ['{"model": {"d_model": 768, "n_layer": 24}, "labels": []}', true],
    ['{"name": "package", "version": "1.0.0", "depth": 3}', false],
    ['[1, 2]', false],
    ['{"embed_dim": ', false],
    ['null', false],
  ])('%s: %s', (text, expected) => expect(looksLikeModel(text)).toBe(expected));

  it('find the checkpoint of the same name', () => {
    expect(checkpointBeside('vim.json', ['vim.pth', 'vim.safetensors', 'other.pth'])).toBe('vim.safetensors');
    expect(checkpointBeside('vim.json', ['other.pth'])).toBeUndefined();
  });

  it('name their session', () => expect(sessionName('/a/b/vim_digits.json')).toBe('vim_digits'));
});
