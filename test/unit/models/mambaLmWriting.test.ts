import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseGenerationCall } from '../../../runtime/engine/generationCall';
import { ExpressionError } from '../../../runtime/expression';
import { endTokens } from '../../../runtime/text/endTokens';
import { matvec } from '../../../runtime/text/matvec';
import { probabilities, ranked } from '../../../runtime/text/scores';
import { TextStream } from '../../../runtime/text/textStream';
import type { Tokenizer } from '../../../runtime/text/tokenizer';

describe('a product with a vector', () => {
  it.each([
    [1, 1],
    [7, 5],
    [8, 3],
    [21, 64],
  ])('of %i rows and %i columns is the sum of the products', (rows, columns) => {
    const w = Float32Array.from({ length: rows * columns }, (_, i) => Math.sin(i));
    const x = Float32Array.from({ length: columns }, (_, k) => Math.cos(k));
    const bias = Float32Array.from({ length: rows }, (_, i) => i);
    for (const b of [undefined, bias]) {
      const y = new Float32Array(rows);
      matvec(w, x, b, y);
      y.forEach((y_i, i) => {
        const sum = x.reduce((s, x_k, k) => s + w[i * columns + k] * x_k, b ? b[i] : 0);
        expect(y_i).toBeCloseTo(sum, 5);
      });
    }
  });
});

describe('the largest scores', () => {
  const scores = Float32Array.of(2, 5, -1, 5, 0, 5, 3);

  it.each([0, 1, 2, 3, 5, 7, 100])('the %i likeliest come as sorting gives them', (count) => {
    const sorted = [1, 3, 5, 6, 0, 4, 2];
    expect(ranked(scores, count)).toEqual(sorted.slice(0, count));
  });

  it('of many come as sorting gives them', () => {
    const many = Float32Array.from({ length: 999 }, (_, k) => (k * 7919) % 541);
    const sorted = Array.from(many, (_, k) => k).sort((a, b) => many[b] - many[a]);
    expect(ranked(many, 300)).toEqual(sorted.slice(0, 300));
  });
});

describe('probabilities', () => {
  it('sum to 1, also for scores that are far from 0', () => {
    const probability = probabilities(Float32Array.of(1000, 1001, -Infinity))!;
    expect(probability(2)).toBe(0);
    expect(probability(0) + probability(1)).toBeCloseTo(1, 12);
    expect(probability(1)).toBeCloseTo(Math.E / (1 + Math.E), 8);
  });

  it.each([Number.NaN, Infinity])('are not given for %d', (score) => {
    expect(probabilities(Float32Array.of(0, score, 1))).toBeUndefined();
  });
});

/** Tokens that are bytes, as in a tokenizer of bytes; the first of a text loses its leading space. */
const BYTES: Tokenizer = {
  encode: (text) => [...new TextEncoder().encode(text)],
  decode: (ids) => new TextDecoder().decode(Uint8Array.from(ids)).replace(/^ /, ''),
};

describe('text from tokens as they come', () => {
  it('gives characters whole and keeps spaces', () => {
    const stream = new TextStream(BYTES, BYTES.encode('A long beginning'));
    const pieces = BYTES.encode(' é€ 😀').map((id) => stream.push(id));
    expect(pieces).toEqual([' ', '', 'é', '', '', '€', ' ', '', '', '', '😀']);
    expect(stream.end()).toBe('');
  });

  it('gives what is incomplete at the end', () => {
    const stream = new TextStream(BYTES, BYTES.encode('a'));
    expect([...BYTES.encode('b€').slice(0, 3)].map((id) => stream.push(id))).toEqual(['b', '', '']);
    expect(stream.end()).toBe('\uFFFD');
  });
});

describe('end tokens', () => {
  const root = mkdtempSync(join(tmpdir(), 'scanpoint-'));
  afterAll(() => rmSync(root, { recursive: true }));

  function folder(files: Record<string, unknown>): string {
    const path = mkdtempSync(join(root, 'model-'));
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(path, name), JSON.stringify(content));
    return path;
  }
  const tokenizer = { added_tokens: [{ id: 5, content: '<end>' }] };

  it.each<[string, Record<string, unknown>, number[]]>([
    ['nothing', {}, []],
    ['nothing that says so', { 'config.json': {}, 'generation_config.json': { eos_token_id: null } }, []],
    ['one id', { 'config.json': { eos_token_id: 3 } }, [3]],
    [
      'several',
      { 'generation_config.json': { eos_token_id: [3, 4] }, 'config.json': { eos_token_id: 1 } },
      [3, 4],
    ],
    ['config.json behind', { 'generation_config.json': {}, 'config.json': { eos_token_id: 1 } }, [1]],
    ['a word', { 'tokenizer_config.json': { eos_token: '<end>' }, 'tokenizer.json': tokenizer }, [5]],
    ['an unknown word', { 'tokenizer_config.json': { eos_token: '<no>' }, 'tokenizer.json': tokenizer }, []],
    ['no word', { 'tokenizer_config.json': { eos_token: null }, 'tokenizer.json': tokenizer }, []],
  ])('of a folder with %s', async (_, files, expected) => {
    expect([...(await endTokens(folder(files)))]).toEqual(expected);
  });

  it('must be ids', async () => {
    const path = folder({ 'config.json': { eos_token_id: [1, '2'] } });
    await expect(endTokens(path)).rejects.toThrow('is [1,"2"]; it takes a token id or a list of them.');
  });
});

describe('generate(...)', () => {
  it.each([
    ['generate()', { tokens: 20 }],
    [' generate (5) ', { tokens: 5 }],
    ['generate(tokens=2 * 3, top_k=None)', { tokens: 6 }],
    ['generate(9, temperature=0.8, top_k=40, seed=1)', { tokens: 9, temperature: 0.8, topK: 40, seed: 1 }],
  ])('%s is read', (text, expected) => {
    expect(parseGenerationCall(text)).toEqual(expected);
  });

  it.each([
    'generate("5")',
    'generate(True)',
    'generate(1e400)',
    'generate(temperature=1/0)',
    'generate(x=1)',
  ])('%s is refused', (text) => {
    expect(() => parseGenerationCall(text)).toThrow(ExpressionError);
  });
});
