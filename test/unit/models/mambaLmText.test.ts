import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { InputError, writeNpy, writeSafetensors } from '../../../runtime/checkpoint';
import { bytesSource } from '../../../runtime/checkpoint/source';
import { loadTokensSource } from '../../../runtime/image/input';
import { Tensor } from '../../../runtime/tensor/tensor';
import { huggingFaceTokenizer } from '../../../runtime/text/huggingFace';
import { describeNextTokens } from '../../../runtime/text/nextTokens';
import { openTokenizer, type Tokenizer } from '../../../runtime/text/tokenizer';
import { fixture } from '../fixtures';
import { loaded, readJson } from './mambaLmSamples';

const VOCABULARY = 20;

function read(content: Uint8Array | string, name = 'ids') {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return loadTokensSource(bytesSource(bytes, name), VOCABULARY);
}

function ids(values: number[], shape: number[], dtype: 'int64' | 'float32' = 'int64'): Tensor {
  return new Tensor(Float32Array.from(values), shape, undefined, 0, dtype);
}

/** Integer arrays as numpy.save writes them. */
function npyOfInt32(values: number[]): Uint8Array {
  const bytes = writeNpy(ids(values, [values.length]));
  const text = new TextDecoder('latin1').decode(bytes).replace('<f4', '<i4');
  const out = Uint8Array.from(text, (c) => c.charCodeAt(0));
  out.set(new Uint8Array(Int32Array.from(values).buffer), out.length - 4 * values.length);
  return out;
}

describe('token ids', () => {
  it.each([
    ['a JSON list', '[3, 1, 19]\n', [1, 3]],
    ['a JSON list of lists', ' [[3, 1, 19], [0, 0, 2]]', [2, 3]],
    ['.npy', npyOfInt32([3, 1, 19]), [1, 3]],
    [
      'safetensors',
      writeSafetensors([
        ['input_ids', ids([3, 1, 19], [3])],
        ['mask', ids([1, 1, 1], [3])],
      ]),
      [1, 3],
    ],
  ])('from %s', (_, content, shape) => {
    const { input } = read(content);
    expect(input.shape).toEqual(shape);
    expect([...input.toArray().subarray(0, 3)]).toEqual([3, 1, 19]);
    expect(input.axes).toEqual(['B', 'L']);
  });

  it('are described', () => {
    expect(read('[[1, 2], [3, 4]]').described).toBe('ids: 2 sequences of 2 tokens.');
    expect(read('[1, 2, 3]').described).toBe('ids: 3 tokens.');
  });

  it.each([
    ['[1, 20]', "Token 1 of sequence 0 in ids is 20, but the model's 20 tokens are 0 to 19."],
    ['[[1], [-1]]', "Token 0 of sequence 1 in ids is -1, but the model's 20 tokens are 0 to 19."],
    ['[]', 'ids holds no tokens. Give at least one.'],
    ['[[]]', 'ids holds no tokens. Give at least one.'],
    ['[[1], [1, 2]]', 'ids is not a JSON list of token ids.'],
    ['[1.5]', 'ids is not a JSON list of token ids.'],
    ['[1, "2"]', 'ids is not a JSON list of token ids.'],
    ['[[1], 2]', 'ids is not a JSON list of token ids.'],
    ['[1, 2', 'ids is not a JSON list of token ids.'],
    ['{"input_ids": [1]}', 'ids is a JSON file'],
    ['hello', 'ids is of no known format. Token ids are taken from'],
  ])('as text are refused when wrong: %s', (content, message) => {
    expect(() => read(content)).toThrow(InputError);
    expect(() => read(content)).toThrow(message);
  });

  it('as arrays are refused when wrong', () => {
    const one = ids([1], [1]);
    const several = writeSafetensors([
      ['a', one],
      ['b', one],
    ]);
    expect(() => read(writeNpy(one))).toThrow('The token ids in ids are float32. Save them as int64.');
    expect(() => read(writeSafetensors([['x', ids([1], [1, 1, 1])]]))).toThrow(
      'The token ids in ids have shape [1, 1, 1]; they take (L) or (B, L).',
    );
    expect(() => read(several)).toThrow(
      'ids has no tensor "input_ids", but a, b. Save the token ids under the name "input_ids".',
    );
  });
});

/** A tokenizer of single words, to see what is asked of one. */
const WORDS: Tokenizer = {
  encode: (text) => text.split(' ').map(Number),
  decode: (tokens) => tokens.map((t) => `<${t}>`).join(''),
};

describe('a tokenizer', () => {
  it('is made of the files in the folder', async () => {
    const made: object[] = [];
    const opened = await openTokenizer(fixture('lm/tied'), (tokenizer, config) => {
      made.push(tokenizer, config);
      return WORDS;
    });
    expect(opened).toBe(WORDS);
    expect(made[0]).toMatchObject({ model: { type: 'BPE' } });
    expect(made[1]).toEqual({});
  });

  it('is absent without them, and says what it cannot do', async () => {
    expect(await openTokenizer(fixture('lm/untied'), () => WORDS)).toBeUndefined();
    const refuse = () => {
      throw new Error('unknown model');
    };
    await expect(openTokenizer(fixture('lm/tied'), refuse)).rejects.toThrow(
      /cannot be used \(unknown model\)\. Give token ids instead of text\./,
    );
  });
});

describe('text', () => {
  const folder = fixture('lm/tied');
  const {
    text,
    ids: expected,
    decoded,
  } = readJson(`${folder}/expected.json`) as {
    text: string;
    ids: number[];
    decoded: string[];
  };

  it('becomes the tokens that the original library makes of it, and back', async () => {
    const tokenizer = (await openTokenizer(folder, huggingFaceTokenizer))!;
    expect(tokenizer.encode(text)).toEqual(expected);
    expect(expected.map((id) => tokenizer.decode([id]))).toEqual(decoded);
    expect(tokenizer.decode(expected)).toBe(text);
  });

  it('is read from the launch configuration or from a .txt file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'scanpoint-')), 'prompt.txt');
    writeFileSync(file, `${text}\n`);
    for (const given of [{ text }, { input: file }]) {
      const { state, notes } = await loaded({ model: folder, ...given });
      const input = state.execution.tensor(state.program.inputs['input_ids']);
      expect([...input.toArray()]).toEqual(expected);
      expect(notes[0]).toBe(
        'The text is 13 tokens: "The" " s" "tep" " de" "lt" "a" " cho" "os" "es" " the" " s" "tate" and 1 more.',
      );
    }
    rmSync(dirname(file), { recursive: true });
  });

  it('needs a tokenizer and at least one token', async () => {
    await expect(loaded({ model: fixture('lm/untied'), text })).rejects.toThrow(
      'Text needs a tokenizer.json',
    );
    await expect(loaded({ model: folder, text: '' })).rejects.toThrow('the text holds no tokens');
  });
});

describe('next tokens', () => {
  const logits = new Tensor(Float32Array.of(9, 9, 9, 9, 9, 9, 0, 1, 2, 3, 4, 5), [1, 2, 6]);

  it('are the likeliest after the last one', () => {
    expect(describeNextTokens(logits)).toEqual([
      'next token 5 63.4 % · token 4 23.3 % · token 3 8.58 % · token 2 3.15 % · token 1 1.16 %',
    ]);
    expect(describeNextTokens(logits, WORDS)[0]).toMatch(/^next "<5>" 63.4 % · "<4>"/);
  });

  it('are named for each sequence, unless there are none', () => {
    const two = new Tensor(Float32Array.of(0, 1, Number.NaN, 1), [2, 1, 2]);
    expect(describeNextTokens(two)).toEqual([
      'Sequence 0: next token 1 73.1 % · token 0 26.9 %',
      'Sequence 1: the scores hold NaN, so no next token can be named.',
    ]);
  });
});
