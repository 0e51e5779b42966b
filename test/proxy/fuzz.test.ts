import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { expect, it } from 'vitest';
import { pythonSession, script } from './pythonSession';

const FAKE_PYTHON = join(__dirname, 'fakePython.mjs');

const REQUESTS: [string, unknown][] = [
  ['threads', undefined],
  ['stackTrace', { threadId: 1 }],
  ['scopes', { frameId: 2 }],
  ['variables', { variablesReference: 3 }],
  ['evaluate', { expression: 'x', context: 'watch', frameId: 2 }],
  ['continue', { threadId: 1 }],
  ['next', { threadId: 1 }],
  ['stepIn', { threadId: 1 }],
  ['stepBack', { threadId: 1 }],
  ['pause', { threadId: 1 }],
  ['setBreakpoints', { source: { path: '/a.py' }, breakpoints: [{ line: 1, condition: 'x' }, { line: 2 }] }],
  ['setFunctionBreakpoints', { breakpoints: [{ name: 'f' }, { name: 'selective_scan' }, { name: '' }] }],
  ['setExceptionBreakpoints', { filters: ['raised', 'nan'] }],
  ['variables', { variablesReference: 2 ** 30 + 5 }],
  ['mamba/tensors', {}],
  ['mamba/seekScan', { t: 1 }],
  ['exceptionInfo', { threadId: 1 }],
  ['restartFrame', { frameId: 1 }],
  ['launch', { program: 'twice.py' }],
  ['cancel', { requestId: 5 }],
  ['scanpoint/answer', { id: 3 }],
  ['stackTrace', {}],
  ['evaluate', null],
  ['nonsense', []],
];

it.each([1, 2, 3, 4])('every request gets exactly one answer, whatever debugpy does (%i)', async (seed) => {
  const s = pythonSession();
  const { client } = s;
  await s.open('launch', { program: script(''), python: [process.execPath, FAKE_PYTHON, `fuzz${seed}`] });
  const sent = [s.starting, client.send('configurationDone')];
  let state = seed;
  for (let i = 0; i < 120; i++) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    const [command, args] = REQUESTS[(state >> 8) % REQUESTS.length];
    sent.push(client.send(command, args));
    if (i % 30 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // The end answers what debugpy has dropped.
  sent.push(client.send('disconnect', {}));
  await Promise.all(sent.map((seq) => client.response(seq)));
  const answers = client.received
    .filter((m) => m.type === 'response')
    .map((m) => (m as DebugProtocol.Response).request_seq);
  expect(answers.filter((seq, i) => answers.indexOf(seq) !== i)).toEqual([]);
  expect(answers.length).toBe(sent.length + 1);
});
