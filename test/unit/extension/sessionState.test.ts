import { describe, expect, it } from 'vitest';
import { inlineText } from '../../../src/extension/inlineText';
import { pageHtml } from '../../../src/extension/panelHtml';
import { afterReply, afterRequest, type SessionState, STARTED } from '../../../src/extension/sessionState';
import { summaryOf } from '../webview/samples';

const event = (name: string, body: object = {}) => ({ type: 'event', event: name, body });
const stopped = event('stopped', {
  reason: 'breakpoint',
  description: 'Paused at selective_scan entry',
  text: 'layers.3.mixer',
});
const request = (command: string) => ({ type: 'request', command });

describe('a session', () => {
  const atStop = afterReply(STARTED, stopped);

  it('stops with words and a new number', () => {
    expect(atStop).toEqual({
      state: 'stopped',
      serial: 1,
      description: 'Paused at selective_scan entry',
      text: 'layers.3.mixer',
    });
    expect(afterReply(atStop, stopped).serial).toBe(2);
    expect(afterReply(STARTED, event('stopped', { reason: 'step' })).description).toBe('step');
  });

  it('runs on from the request, whether or not an event follows', () => {
    for (const command of ['continue', 'next', 'stepIn', 'stepOut', 'stepBack', 'reverseContinue']) {
      expect(afterRequest(atStop, request(command)).state).toBe('running');
    }
    expect(afterReply(atStop, event('continued')).state).toBe('running');
    expect(afterRequest(atStop, request('variables'))).toBe(atStop);
  });

  it('stands where it stood when going on is refused', () => {
    const going = afterRequest(atStop, request('stepBack'));
    const refused = afterReply(going, { type: 'response', command: 'stepBack', success: false });
    expect(refused).toMatchObject({ state: 'stopped', serial: 1 });
    expect(afterReply(STARTED, { type: 'response', command: 'next', success: false })).toBe(STARTED);
  });

  it('says what is being done', () => {
    const states: SessionState[] = [STARTED];
    const next = (message: object) => states.push(afterReply(states.at(-1) ?? STARTED, message));
    next(event('progressStart', { title: 'Scanpoint: loading', progressId: 'p' }));
    next(event('progressUpdate', { message: 'layers.3' }));
    next(event('progressUpdate', {}));
    next(event('progressEnd'));
    expect(states.map((state) => state.activity)).toEqual([
      undefined,
      'loading',
      'layers.3',
      'layers.3',
      undefined,
    ]);
  });

  it('counts changed tensors like a stop, and nothing else', () => {
    expect(afterReply(atStop, event('mamba/tensorsChanged')).serial).toBe(2);
    for (const message of [
      event('output'),
      { type: 'response', command: 'variables', success: true },
      null,
      'x',
      7,
    ]) {
      expect(afterReply(atStop, message)).toBe(atStop);
    }
  });
});

describe('the page of a webview', () => {
  const html = pageHtml({
    title: 'Tensors',
    script: 's.js',
    style: 's.css',
    cspSource: 'https://w',
    nonce: 'abc',
  });
  it('allows one script and nothing inline', () => {
    expect(html).toContain("default-src 'none'");
    expect(html).not.toContain('unsafe');
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain('<script nonce="abc" src="s.js"></script>');
    expect(html).not.toMatch(/\son\w+=|style="/);
  });
});

describe('text behind a line of code', () => {
  const summary = summaryOf({ shape: [1, 96, 65], nan: 2, contiguous: false });
  it('is the whole line for one name', () =>
    expect(inlineText('u', summary, 1)).toMatch(/^u: \[1, 96, 65\] ∈ \[-1 .* 3\] μ 0.5 σ 1 · NaN 2/));
  it('gets shorter with more names and still says what is wrong', () => {
    expect(inlineText('u', summary, 2)).toBe('u: [1, 96, 65] ∈ [-1, 3] · NaN 2');
    expect(inlineText('u', summary, 7)).toBe('u: [1, 96, 65] · NaN 2');
    expect(inlineText('t', summaryOf({ shape: [], min: 57, max: 57 }), 2)).toBe('t: [] = 57');
  });
});
