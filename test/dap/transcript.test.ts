import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import { ROOT } from './client';
import { DIGITS, type Session, session } from './session';

/** A whole session as text: every message in the order in which it came, without what changes from run to run. */
function transcript(s: Session): string {
  return s.client.received
    .filter((m) => !(m as DebugProtocol.Event).event?.startsWith('progress'))
    .map((message) => line(message as DebugProtocol.Response & DebugProtocol.Event))
    .join('\n')
    .replaceAll(ROOT, '<root>/')
    .replace(/finished after [\d.e-]+ s/, 'finished after <time> s');
}

function line(m: DebugProtocol.Response & DebugProtocol.Event): string {
  const body = m.body === undefined ? '' : ` ${JSON.stringify(m.body)}`;
  if (m.type === 'event') return `event ${m.event}${body}`;
  return m.success ? `answer ${m.command}${body}` : `refused ${m.command}: ${m.message}`;
}

describe('a session from start to end', () => {
  it('says what it always said', async () => {
    const s = await session().start(
      { ...DIGITS, label: 7 },
      {
        functions: [
          { name: 'selective_scan', condition: 'layer == 1 and direction == "backward"' },
          { name: 'nowhere.at.all' },
        ],
      },
    );
    await s.stopped();
    await s.scope('Scan');
    await s.evaluate('delta.max()', 'repl');
    await s.step('stepIn');
    await s.stack();
    await s.step('stepOut');
    await expect(s.evaluate('detla')).rejects.toThrow();
    await s.setFunctions([]);
    await s.client.request('continue', { threadId: 1 });
    await s.terminated();
    await s.client.request('disconnect');
    await expect(transcript(s)).toMatchFileSnapshot('transcripts/digit.txt');
  });
});
