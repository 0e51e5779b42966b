import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { QUESTION_EVENT, type Question } from '../../src/protocol/questions';
import { DIGITS } from '../dap/session';
import { PYTHON, pythonSession, script } from './pythonSession';

const FAKE_PYTHON = join(__dirname, 'fakePython.mjs');
const fake = (mode: string) => [process.execPath, FAKE_PYTHON, mode];
const storage = () => mkdtempSync(join(tmpdir(), 'scanpoint-storage-'));

describe('the kind of session', () => {
  it('is chosen by the launch, after a client knew only of the embedded one', async () => {
    const s = pythonSession();
    const first = await s.client.request<DebugProtocol.Capabilities>('initialize', { adapterID: 'mamba' });
    expect(first.supportsRestartRequest).toBe(true);
    await expect(s.client.request('launch', {})).rejects.toThrow('has no "model"');
    s.starting = s.client.send('launch', { program: script('print("here")\n'), python: PYTHON });
    const { body } = await s.client.event<DebugProtocol.CapabilitiesEvent>('capabilities');
    expect(body.capabilities).toMatchObject({ supportsRestartRequest: false, supportsSetVariable: true });
    await s.client.event('initialized');
    await s.configure('');
    expect(await s.exited()).toBe(0);
    expect(s.output).toContain('here');
  });

  it('is known from the beginning to a client that says so', async () => {
    const s = pythonSession(undefined, ['--pytorch']);
    const capabilities = await s.client.request<DebugProtocol.Capabilities>('initialize', {
      adapterID: 'mamba',
    });
    expect(capabilities.exceptionBreakpointFilters!.map((f) => f.filter)).toEqual([
      'raised',
      'uncaught',
      'userUnhandled',
      'nan',
      'inf',
      'exploding',
      'vanishing',
    ]);
    expect(capabilities).toMatchObject({ supportTerminateDebuggee: true, supportsStepBack: false });
    expect(capabilities).not.toHaveProperty('supportsTerminateDebuggee');
    await s.client.request('launch', { ...DIGITS, stopOnEntry: true });
    await s.client.event('initialized');
  });

  it('needs a launch first', async () => {
    const s = pythonSession(undefined, ['--pytorch']);
    await s.client.request('initialize', { adapterID: 'mamba' });
    await expect(s.client.request('threads')).rejects.toThrow('send "launch" first');
    await expect(s.client.request('setBreakpoints', { source: {}, breakpoints: [] })).rejects.toThrow(
      'launch',
    );
    await s.client.request('disconnect', {});
  });
});

describe('a configuration', () => {
  it.each([
    ['launch', { program: 'a.py', module: 'b' }, '"program" and "module"; keep one'],
    [
      'launch',
      { module: 'b', python: PYTHON, env: { A: 1 } },
      '"env" in the launch configuration must be an object',
    ],
    ['launch', { program: 'a.py', envFile: '/no/such/.env', python: PYTHON }, '"envFile" cannot be read'],
    ['launch', { program: 'a.py', python: '/no/such/python' }, 'There is no Python at "/no/such/python"'],
    [
      'launch',
      { program: 'a.py', breakpoints: [{}] },
      '"breakpoints" in the launch configuration needs a "name"',
    ],
    [
      'attach',
      { connect: { port: 0 } },
      '"connect" in the attach configuration must be an object with a "port"',
    ],
  ] as const)('of %s %j is refused with a sentence', async (request, args, sentence) => {
    const s = pythonSession();
    await expect(s.open(request, args)).rejects.toThrow(sentence);
    // It can be tried again.
    await s.client.request('disconnect', {});
  });
});

describe('debugpy', () => {
  const launch = (mode: string) => ({ program: script(''), python: fake(mode) });

  it('that is missing gives one sentence to a client that cannot ask', async () => {
    const s = pythonSession(undefined, ['--storage', storage()]);
    await expect(s.open('launch', launch('missing'))).rejects.toThrow(
      /^debugpy is not installed for .*; install it with ".* -m pip install -U debugpy"\.$/,
    );
  });

  it.each(['missing', 'old'])(
    'that is %s is installed into our folder when the person agrees',
    async (mode) => {
      const folder = storage();
      const s = pythonSession(undefined, ['--questions', '--storage', folder]);
      const opened = s.open('launch', launch(mode === 'old' ? 'old' : 'missing'));
      const question = await s.client.event<DebugProtocol.Event & { body: Question }>(QUESTION_EVENT);
      expect(question.body.text).toContain(mode === 'old' ? '1.5.0 is too old' : 'is not installed');
      await s.client.request('scanpoint/answer', { id: question.body.id, choice: question.body.choices[0] });
      await opened;
      expect(s.output).toContain('Collecting debugpy');

      // The next session finds it.
      const next = pythonSession(undefined, ['--questions', '--storage', folder]);
      await next.open('launch', launch(mode === 'old' ? 'old' : 'missing'));
      expect(next.output).not.toContain('Collecting');
    },
  );

  it('that the person does not want, or that pip cannot get, gives one sentence', async () => {
    for (const [mode, choice, sentence] of [
      ['missing', undefined, 'debugpy is not installed'],
      ['missing-offline', 'Install', 'debugpy could not be installed: ERROR: Could not find a version'],
    ] as const) {
      const s = pythonSession(undefined, ['--questions', '--storage', storage()]);
      const opened = s.open('launch', launch(mode));
      opened.catch(() => {});
      const { body } = await s.client.event<DebugProtocol.Event & { body: Question }>(QUESTION_EVENT);
      await s.client.request('scanpoint/answer', { id: body.id, choice });
      await expect(opened).rejects.toThrow(sentence);
    }
  });

  it.each(['initialize', 'launch', 'configurationDone', 'threads'])(
    'that dies at "%s" leaves no request unanswered',
    async (command) => {
      const s = pythonSession(undefined, ['--pytorch']);
      await s.client.request('initialize', { adapterID: 'mamba', pathFormat: 'path' });
      const requests = [
        s.client.send('launch', { ...launch(`dies-${command}`), agent: false }),
        s.client.send('configurationDone'),
      ];
      await Promise.race([s.client.event('initialized'), s.client.response(requests[0])]);
      for (const next of ['configurationDone', 'evaluate', 'threads', 'stackTrace'])
        requests.push(s.client.send(next, { threadId: 1, expression: '1' }));
      const answers = await Promise.all(requests.map((seq) => s.client.response(seq)));
      const failed = answers.filter((a) => !a.success);
      expect(failed.length).toBeGreaterThan(0);
      for (const { message } of failed) expect(message).toMatch(/debugpy|Nothing is being debugged/);
    },
  );
});

describe('without the agent', () => {
  const PROGRAM = 'x = [1]\nprint("ran", x)\n';
  const stops = async (agent: string, args: object = {}) => {
    const path = script(PROGRAM);
    const s = pythonSession(agent);
    await s.launch(
      path,
      { lines: [{ line: 2 }], functions: [{ name: 'selective_scan' }], filters: ['nan'] },
      { ...args },
    );
    const { threadId } = await s.stopped();
    expect((await s.scope(threadId!, 'Globals'))['x'].value).toBe('[1]');
    expect(s.functionAnswers).toMatchObject([{ verified: false }]);
    await expect(s.client.request('mamba/tensors')).rejects.toThrow('only plain debugging works');
    expect(await s.finish(threadId!)).toBe(0);
    return s.output;
  };
  const notices = (output: string) => output.split('could not join this process').length - 1;

  it('plain debugging works, which is said once', async () => {
    expect(notices(await stops('/no/such/folder'))).toBe(1);
  });

  it.each([
    ['cannot be imported', 'raise RuntimeError("cannot be imported")'],
    ['has no call', ''],
    ['call(text):', 'def call(text): raise RuntimeError("in call(text):")'],
  ])('since it %s, plain debugging works too', async (_, text) => {
    const package_ = join(mkdtempSync(join(tmpdir(), 'scanpoint-')), 'scanpoint_agent');
    mkdirSync(package_);
    writeFileSync(join(package_, '__init__.py'), `${text}\n`);
    expect(notices(await stops(dirname(package_)))).toBe(1);
  });

  it('that is not wanted nothing is said', async () => {
    expect(notices(await stops('/no/such/folder', { agent: false }))).toBe(0);
  });
});
