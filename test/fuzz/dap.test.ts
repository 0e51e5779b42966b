import type { DebugProtocol } from '@vscode/debugprotocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DapClient } from '../dap/client';
import { DIGITS, session } from '../dap/session';

const COMMANDS = [
  'setBreakpoints',
  'setFunctionBreakpoints',
  'setExceptionBreakpoints',
  'breakpointLocations',
  'threads',
  'stackTrace',
  'scopes',
  'variables',
  'evaluate',
  'exceptionInfo',
  'next',
  'stepIn',
  'stepOut',
  'stepBack',
  'reverseContinue',
  'pause',
  'cancel',
  'mamba/tensors',
  'mamba/tensorData',
  'mamba/sites',
  'configurationDone',
  'initialize',
  'constructor',
  '__proto__',
  'toString',
  '',
];

/** Argument names that handlers read, with any JSON behind them. */
const NAMES = [
  'threadId',
  'frameId',
  'variablesReference',
  'filter',
  'start',
  'count',
  'expression',
  'source',
  'breakpoints',
  'filters',
  'id',
  'index',
  'rowAxis',
  'maxRows',
  'line',
  'requestId',
  'progressId',
  'scope',
  'budget',
  'startFrame',
  'levels',
];

const plausible = fc.oneof(
  fc.integer({ min: -5, max: 40 }),
  fc.constantFrom(
    'delta',
    'delta.max()',
    'v1',
    'v5[0]',
    'step:h',
    'tmp:0',
    'indexed',
    'named',
    'run',
    'nan',
    'selective_scan',
  ),
  fc.jsonValue({ maxDepth: 2 }),
  fc.array(
    fc.record({ name: fc.string(), condition: fc.string(), line: fc.integer() }, { requiredKeys: [] }),
    { maxLength: 3 },
  ),
);
const request = fc.record({
  command: fc.constantFrom(...COMMANDS),
  arguments: fc.oneof(
    fc.dictionary(fc.constantFrom(...NAMES), plausible, { maxKeys: 5 }),
    fc.jsonValue({ maxDepth: 1 }),
  ),
});

function answersOf(client: DapClient, seq: number): number {
  return client.received.filter(
    (m) => m.type === 'response' && (m as DebugProtocol.Response).request_seq === seq,
  ).length;
}

describe('fuzzed requests', () => {
  it('each get exactly one response, and the session lives on', async () => {
    const s = await session().start({ ...DIGITS, stopOnEntry: true });
    await s.stopped();
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 20 }), async (requests) => {
        const seqs = requests.map((r) => s.client.send(r.command, r.arguments));
        await Promise.all(seqs.map((seq) => s.client.response(seq)));
        for (const seq of seqs) expect(answersOf(s.client, seq)).toBe(1);
      }),
      { numRuns: 60, endOnFailure: true },
    );
    await s.client.request('threads');
    expect(s.console).not.toContain('fault in Scanpoint');
    const faults = s.client.received.filter(
      (m) => m.type === 'response' && (m as DebugProtocol.Response).message?.includes('A fault in Scanpoint'),
    );
    expect(faults).toEqual([]);
  });
});

describe('malformed messages', () => {
  it('do not end the adapter', async () => {
    const client = new DapClient();
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.constantFrom('null', '[]', '{}', '{"type":"request"}', '"request"'),
        ),
        async (text) => {
          client.write(text);
          expect(await client.response(client.send('threads'))).toMatchObject({ success: true });
        },
      ),
      { numRuns: 80 },
    );
    await client.dispose();
  });

  it('split at any byte are put together again', async () => {
    const client = new DapClient();
    const json = JSON.stringify({
      seq: 1000,
      type: 'request',
      command: 'threads',
      arguments: { note: 'Δ≠∅' },
    });
    const bytes = Buffer.from(`Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
    for (const byte of bytes) client.process.stdin!.write(Buffer.from([byte]));
    expect(await client.response(1000)).toMatchObject({ success: true });
    await client.dispose();
  });
});
