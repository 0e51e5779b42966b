import { describe, expect, it } from 'vitest';
import { frame, MessageReader } from '../../src/adapter/framing';
import { callExpression } from '../../src/adapter/pytorch/agentClient';
import { parseEnvFile } from '../../src/adapter/pytorch/envFile';
import { isPyTorchStart, readPyTorchStart } from '../../src/protocol/pytorchLaunch';

describe('the frames of messages', () => {
  const read = (chunks: Buffer[], largest?: number) => {
    const messages: unknown[] = [];
    const lost: string[] = [];
    const events = { message: (m: unknown) => messages.push(m), lost: (head: string) => lost.push(head) };
    const reader = new MessageReader(events, largest);
    for (const chunk of chunks) reader.read(chunk);
    return { messages, lost };
  };
  const all = [{ a: 1 }, { text: 'é😀' }, { b: [null] }];
  const bytes = Buffer.from(all.map(frame).join(''));

  it('are found however the bytes are cut', () => {
    for (let size = 1; size < 30; size++) {
      const chunks = [];
      for (let i = 0; i < bytes.length; i += size) chunks.push(bytes.subarray(i, i + size));
      expect(read(chunks).messages).toEqual(all);
    }
  });

  it('are found behind what is none', () => {
    const noise = Buffer.from(`Traceback (most recent call last):\r\n\r\n${frame({}).replace('{}', '{,')}`);
    expect(read([noise, bytes])).toEqual({ messages: all, lost: ['{,'] });
    expect(read([Buffer.alloc(200_000, 'x'), Buffer.from('\r\n\r\n'), bytes]).messages).toEqual(all);
  });

  it('that are too large are dropped, and their beginning is told', () => {
    const huge = Buffer.from(frame({ request_seq: 7, body: 'x'.repeat(5_000) }));
    const { messages, lost } = read([huge.subarray(0, 900), huge.subarray(900), bytes], 1_000);
    expect(messages).toEqual(all);
    expect(lost[0]).toMatch(/^\{"request_seq":7,/);
  });
});

describe('an environment file', () => {
  it('gives its variables', () => {
    const lines = [
      'A=1',
      'export B = "x \\"y\\"\\n" # note',
      '# C=2',
      "D='$A'",
      'E=$A$' + '{HOME}-',
      'F=a#b #c',
    ];
    const text = [...lines, 'bad line', 'G='].join('\r\n');
    expect(parseEnvFile(text, { HOME: '/h' })).toEqual({
      A: '1',
      B: 'x "y"\n',
      D: '$A',
      E: '$A/h-',
      F: 'a#b',
      G: '',
    });
  });
});

describe('the call of an agent method', () => {
  it('is one line of ASCII whatever is in it', () => {
    const line = callExpression(3, 'm', { text: '"\\\n\u2028é😀' });
    expect(line).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(JSON.parse(line.slice('call('.length, -1)))).toEqual({
      id: 3,
      method: 'm',
      args: { text: '"\\\n\u2028é😀' },
    });
  });
});

describe('a configuration', () => {
  it('is of a Python process when it names one', () => {
    expect(isPyTorchStart({ program: 'a.py' })).toBe(true);
    expect(isPyTorchStart({ connect: { port: 1 } })).toBe(true);
    expect(isPyTorchStart({ model: 'x', program: 'a.py' })).toBe(false);
    expect(isPyTorchStart({})).toBe(false);
    expect(isPyTorchStart(undefined)).toBe(false);
  });

  it('is split into debugpy’s arguments and ours', () => {
    const start = readPyTorchStart('launch', {
      type: 'mamba',
      program: 'a.py',
      python: 'py',
      scanFunctions: ['f'],
      trace: 'modules',
      breakpoints: ['selective_scan'],
      justMyCode: false,
      cwd: '',
    });
    expect(start).toMatchObject({ python: ['py'], settings: { scanFunctions: ['f'], trace: 'modules' } });
    expect(start.debugpy).toEqual({ type: 'mamba', program: 'a.py', justMyCode: false });
  });

  it.each([
    ['launch', {}, 'names nothing to run; give a "program" or a "module".'],
    ['launch', { progam: 'a.py' }, 'Is "progam" meant to be "program"?'],
    [
      'launch',
      { program: 'a.py', trace: 'all' },
      '"trace" in the launch configuration must be "off", "boundaries", "modules" or "ops".',
    ],
    [
      'launch',
      { module: 'm', args: [1] },
      '"args" in the launch configuration must be a text or a list of texts.',
    ],
    ['attach', {}, 'names no process'],
    ['attach', { connect: { port: 1 }, processId: 2 }, '"connect" and "processId"; keep one of them.'],
    [
      'attach',
      { processId: 'x' },
      '"processId" in the attach configuration must be the number of a process.',
    ],
  ] as const)('of %s %j is refused', (request, given, sentence) => {
    expect(() => readPyTorchStart(request, given)).toThrow(sentence);
  });
});
