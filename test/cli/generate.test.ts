import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../dap/client';
import { DIGITS } from '../dap/session';
import { plant } from '../plantedCheckpoint';

const TIED = `${ROOT}test/fixtures/lm/tied`;
const UNTIED = `${ROOT}test/fixtures/lm/untied`;
const TEXT = 'The step delta chooses the state.';

const folder = mkdtempSync(join(tmpdir(), 'scanpoint-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function scanpoint(args: string[], root = ROOT) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${root}dist/cli.js`, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function generate(...args: string[]) {
  return scanpoint(['generate', ...args]);
}

interface Report {
  prompt: number[];
  tokens: { id: number; text?: string; probability: number }[];
  text?: string;
  ended: boolean;
  tokensPerSecond: number;
}

function report(...args: string[]): Report {
  const { status, stdout, stderr } = generate(...args, '--json');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as Report;
}

/** A copy of the tied model that says something else beside its weights. */
function copyOf(model: string, name: string, files: Record<string, unknown>): string {
  const copy = join(folder, name);
  cpSync(model, copy, { recursive: true });
  for (const [path, content] of Object.entries(files))
    writeFileSync(join(copy, path), JSON.stringify(content));
  return copy;
}

const configOf = (model: string) =>
  JSON.parse(readFileSync(`${model}/config.json`, 'utf8')) as Record<string, unknown>;

describe('scanpoint generate', () => {
  it('writes text to standard output, and the notes and the speed to standard error', () => {
    const { status, stdout, stderr } = generate(TIED, '--text', TEXT, '--tokens', '8');
    expect(status).toBe(0);
    expect(stdout).toBe(`${report(TIED, '--text', TEXT, '--tokens', '8').text}\n`);
    expect(stderr).toMatch(/^The text is 13 tokens: "The" " s" "tep"/);
    expect(stderr).toMatch(/^Weights: 22 tensors from .*model\.safetensors/m);
    expect(stderr).toMatch(/^8 tokens in [\d.e-]+ s, [\d.e]+ tokens\/s\.$/m);
  });

  it('speaks JSON', () => {
    const { prompt, tokens, text, ended, tokensPerSecond } = report(TIED, '--text', TEXT, '--tokens', '5');
    expect(prompt).toEqual(JSON.parse(readFileSync(`${TIED}/expected.json`, 'utf8')).ids);
    expect(tokens).toHaveLength(5);
    expect(tokens.map((t) => t.text).join('')).toBe(text);
    for (const { probability } of tokens) expect(probability).toBeGreaterThan(1 / 64);
    expect(ended).toBe(false);
    expect(tokensPerSecond).toBeGreaterThan(0);
  });

  it('reads token ids and writes ids where there is no tokenizer', () => {
    const input = file('ids.json', '[3, 1, 19]');
    const { status, stdout } = generate(UNTIED, '--input', input, '--tokens', '4');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^\d+ \d+ \d+ \d+\n$/);
    const { prompt, tokens, text } = report(UNTIED, '--input', input, '--tokens', '4');
    expect(prompt).toEqual([3, 1, 19]);
    expect(tokens.map((t) => t.id).join(' ')).toBe(stdout.trim());
    expect(text).toBeUndefined();
  });

  it('reads a text file', () => {
    const input = file('prompt.txt', `${TEXT}\n`);
    expect(generate(TIED, '--input', input).stdout).toBe(generate(TIED, '--text', TEXT).stdout);
  });

  it('draws tokens, the same for the same seed', () => {
    const draw = (...how: string[]) => generate(TIED, '--text', TEXT, '--tokens', '30', ...how).stdout;
    const hot = ['--temperature', '1.5', '--seed'];
    expect(draw(...hot, '1')).toBe(draw(...hot, '1'));
    expect(draw(...hot, '1')).not.toBe(draw(...hot, '2'));
    expect(draw('--top-k', '1')).toBe(draw());
  });

  it('ends when nobody reads its text any more', () => {
    const endless = `"${process.execPath}" "${ROOT}dist/cli.js" generate "${TIED}" --text a --tokens 100000000 | head -c 20`;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', endless], {
      encoding: 'utf8',
      timeout: 30_000,
    });
    expect(status).toBe(0);
    expect(stdout).toHaveLength(20);
    expect(stderr).toMatch(/tokens\/s\.\n$/);
  });

  it('runs a configuration alone, with random weights', () => {
    const model = file('small.json', '{"d_model": 8, "n_layer": 1, "vocab_size": 16}');
    const { status, stderr } = generate(model, '--input', file('one.json', '[1]'), '--tokens', '2');
    expect(status).toBe(0);
    expect(stderr).toContain('the weights are random, from seed 0');
  });
});

describe('an end token', () => {
  const ids = report(TIED, '--text', TEXT, '--tokens', '40', '--top-k', '5').tokens.map((t) => t.id);
  const end = ids[7];
  const upTo = ids.slice(0, ids.indexOf(end) + 1);
  const config = configOf(TIED);
  const { eos_token_id: _, ...endless } = config;
  const added = { added_tokens: [{ id: end, content: '<end>', special: true }] };
  const tokenizer = JSON.parse(readFileSync(`${TIED}/tokenizer.json`, 'utf8')) as { added_tokens: object[] };

  it.each<[string, Record<string, unknown>]>([
    ['generation_config.json', { 'generation_config.json': { eos_token_id: [63, end] } }],
    ['config.json', { 'config.json': { ...config, eos_token_id: end } }],
    [
      'the tokenizer',
      {
        'config.json': endless,
        'tokenizer.json': { ...tokenizer, ...added },
        'tokenizer_config.json': { eos_token: { content: '<end>' } },
      },
    ],
  ])('of %s ends the text and is no part of it', (name, files) => {
    const model = copyOf(TIED, `end ${name}`, files);
    const { tokens, text, ended } = report(model, '--text', TEXT, '--tokens', '40', '--top-k', '5');
    expect(tokens.map((t) => t.id)).toEqual(upTo);
    expect(ended).toBe(true);
    const written = tokens.slice(0, -1).map((t) => t.text);
    expect(text).toBe(written.join(''));
    expect(generate(model, '--text', TEXT, '--tokens', '40', '--top-k', '5').stderr).toMatch(
      /tokens\/s, up to the end token\.\n$/,
    );
  });

  it('that is not an id is refused', () => {
    const model = copyOf(TIED, 'wrong end', { 'generation_config.json': { eos_token_id: 'end' } });
    const { status, stderr } = generate(model, '--text', TEXT);
    expect(status).toBe(1);
    expect(stderr).toContain('"eos_token_id" in');
    expect(stderr).toContain('is "end"; it takes a token id or a list of them.');
  });
});

describe('bad command lines and files', () => {
  const ids = file('good.json', '[1, 2]');
  const wrong: [string, string[], RegExp][] = [
    ['no model', [], /"scanpoint generate" needs a model/],
    ['two models', ['a', 'b'], /takes one model, not 2/],
    ['an unknown flag', [TIED, '--text', 'a', '--tokns', '3'], /--tokns/],
    ['no prompt', [TIED], /needs --text or --input/],
    ['two prompts', [TIED, '--text', 'a', '--input', ids], /--text or --input, not both/],
    ['an empty text', [TIED, '--text', ''], /the text holds no tokens/],
    ['an empty file', [TIED, '--input', file('empty.txt', '')], /the text holds no tokens/],
    ['an empty list', [TIED, '--input', file('empty.json', '[]')], /holds no tokens/],
    ['several sequences', [TIED, '--input', file('two.json', '[[1], [2]]')], /The input has 2 sequences/],
    [
      'a token out of range',
      [TIED, '--input', file('far.json', '[1, 64]')],
      /is 64, but the model's 64 tokens/,
    ],
    ['a negative token', [TIED, '--input', file('negative.json', '[-1]')], /is -1, but/],
    ['a list of words', [TIED, '--input', file('words.json', '["a"]')], /is not a JSON list of token ids/],
    ['an image', [TIED, '--input', DIGITS.input], /an image, but the model reads tokens/],
    ['an input that is not there', [TIED, '--input', '/nowhere.json'], /nowhere\.json/],
    ['text without a tokenizer', [UNTIED, '--text', 'a'], /Text needs a tokenizer\.json/],
    [
      'a model that is not known',
      ['gpt2', '--text', 'a'],
      /"gpt2" is neither a file nor a published model name/,
    ],
    ['a vision model', [DIGITS.model, '--input', DIGITS.input], /takes a Mamba language model/],
    ['a checkpoint that is not there', [TIED, '--text', 'a', '--checkpoint', '/nowhere.pth'], /nowhere\.pth/],
    [
      'a checkpoint of another model',
      [TIED, '--text', 'a', '--checkpoint', DIGITS.checkpoint],
      /does not fit/,
    ],
    ['no tokens', [TIED, '--text', 'a', '--tokens', '0'], /--tokens takes a whole number from 1, not "0"/],
    ['a part of a token', [TIED, '--text', 'a', '--tokens', '1.5'], /--tokens takes a whole number from 1/],
    ['a word for a number', [TIED, '--text', 'a', '--tokens', 'ten'], /--tokens takes a whole number from 1/],
    [
      'a cold temperature',
      [TIED, '--text', 'a', '--temperature', '0'],
      /--temperature takes a number above 0/,
    ],
    ['a hot temperature', [TIED, '--text', 'a', '--temperature', 'Infinity'], /--temperature takes a number/],
    ['no choice', [TIED, '--text', 'a', '--top-k', '0'], /--top-k takes a whole number from 1, not "0"/],
    ['a seed that is no number', [TIED, '--text', 'a', '--seed', 'x'], /--seed takes a whole number from 0/],
  ];
  it.each(wrong)('%s', (_, args, message) => {
    const { status, stdout, stderr } = generate(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^scanpoint: /m);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  it('weights with a NaN', () => {
    const checkpoint = plant(`${TIED}/model.safetensors`, 'backbone.norm_f.weight', 3, Number.NaN);
    const { status, stderr } = generate(TIED, '--text', 'a', '--checkpoint', checkpoint);
    expect(status).toBe(1);
    expect(stderr).toContain('scanpoint: The scores of new token 1 hold NaN or Inf');
  });
});

describe('help', () => {
  it('is given for the command and for all commands', () => {
    expect(generate('--help')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Usage: scanpoint generate[\s\S]*--top-k/),
    });
    const { stdout } = scanpoint(['--help']);
    expect(stdout).toMatch(/Usage: scanpoint run[\s\S]*Usage: scanpoint generate/);
  });

  it('names the commands that there are', () => {
    expect(scanpoint(['write']).stderr).toMatch(/there is no command "write", only .*"generate"/);
  });
});

it('says once when the SIMD kernels are missing', () => {
  const root = join(folder, 'bare');
  cpSync(`${ROOT}dist`, join(root, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.wasm') });
  const { status, stderr } = scanpoint(['generate', TIED, '--text', 'a', '--tokens', '1'], `${root}/`);
  expect(status).toBe(0);
  expect(
    stderr.match(/^The SIMD kernels are not used because .* are missing in .*; the run is slower\.$/gm),
  ).toHaveLength(1);
  expect(generate(TIED, '--text', 'a', '--tokens', '1').stderr).not.toContain('SIMD');
});
