import { describe, expect, it } from 'vitest';
import type { TensorsResponse } from '../../../src/protocol/requests';
import { type Action, initialModel, type Model, reduce } from '../../../webview/tensors/model';
import { offsetsOf, scrollToShow, visibleLines } from '../../../webview/tensors/scrolling';
import { entryOf } from './samples';

const response: TensorsResponse = { site: { module: '' }, stop: 1, tensors: [entryOf('u')], leftOut: 0 };
const modelAfter = (...actions: Action[]): Model => actions.reduce(reduce, initialModel(undefined));
const stopped: Action = { type: 'message', message: { type: 'state', state: 'stopped', target: 'Digits' } };
const loading: Action = { type: 'message', message: { type: 'loading' } };
const running: Action = { type: 'message', message: { type: 'state', state: 'running' } };
const tensors: Action = { type: 'message', message: { type: 'tensors', scope: 'site', response } };

describe('the panel', () => {
  it('begins without a session and forgets the tensors when one ends', () => {
    expect(modelAfter()).toMatchObject({ state: 'noSession', loading: false });
    const ended = modelAfter(stopped, tensors, {
      type: 'message',
      message: { type: 'state', state: 'noSession' },
    });
    expect(ended.response).toBeUndefined();
  });
  it('keeps showing the last stop while the program runs', () => {
    expect(modelAfter(stopped, tensors, running)).toMatchObject({
      state: 'running',
      response,
      loading: false,
    });
  });
  it('waits from loading to the answer', () => {
    expect(modelAfter(stopped, loading).loading).toBe(true);
    expect(modelAfter(stopped, loading, tensors).loading).toBe(false);
    expect(modelAfter(stopped, loading, running).loading).toBe(false);
  });
  it('shows a failure until it is asked again or the program runs', () => {
    const failed: Action = { type: 'message', message: { type: 'tensorsFailed', message: 'No.' } };
    expect(modelAfter(stopped, loading, failed)).toMatchObject({ error: 'No.', loading: false });
    expect(modelAfter(stopped, failed, loading).error).toBeUndefined();
    expect(modelAfter(stopped, failed, running).error).toBeUndefined();
  });
});

describe('choices', () => {
  it('switch on and off', () => {
    const pin: Action = { type: 'togglePin', key: 'scan u' };
    expect(modelAfter(pin).view.pinned).toEqual(['scan u']);
    expect(modelAfter(pin, pin).view.pinned).toEqual([]);
    expect(modelAfter({ type: 'toggleRole', group: 'scan' }).view.hidden).toEqual(['scan']);
    expect(modelAfter({ type: 'toggleSection', key: 'scan' }).view.collapsed).toEqual(['scan']);
  });
  it('of how to look at a tensor go over to the next one, its place does not', () => {
    const changed = modelAfter(
      { type: 'open', entry: entryOf('u') },
      { type: 'tensor', change: { mode: 'values', scale: 'log', at: { row: 5, column: 6 } } },
      { type: 'open', entry: entryOf('z') },
    );
    expect(changed.view.open).toMatchObject({
      name: 'z',
      mode: 'values',
      scale: 'log',
      at: { row: 0, column: 0 },
    });
    expect(changed.view.selected).toBe('id of z');
    expect(reduce(changed, { type: 'close' }).view.open).toBeUndefined();
  });
  it('are kept, and garbage that was kept is dropped', () => {
    const { view } = modelAfter({ type: 'view', change: { query: 'delta', sort: 'nan', scope: 'run' } });
    expect(initialModel(JSON.parse(JSON.stringify(view))).view).toEqual(view);
    for (const kept of [undefined, null, 7, 'x', { query: 3 }, { pinned: 'u' }, { scope: 'all' }]) {
      expect(initialModel(kept).view).toEqual(initialModel(undefined).view);
    }
  });
});

describe('scrolling', () => {
  const offsets = offsetsOf([22, 38, 38, 22, 38]);
  it('draws the lines in view and some more', () => {
    expect(offsets).toEqual([0, 22, 60, 98, 120, 158]);
    expect(visibleLines(offsets, 30, 40, 0)).toEqual({ from: 1, to: 3 });
    expect(visibleLines(offsets, 30, 40, 9)).toEqual({ from: 0, to: 5 });
    expect(visibleLines([0], 0, 100)).toEqual({ from: 0, to: 0 });
  });
  it('moves no further than it must', () => {
    expect(scrollToShow(offsets, 2, 0, 200)).toBe(0);
    expect(scrollToShow(offsets, 4, 0, 100)).toBe(58);
    expect(scrollToShow(offsets, 0, 50, 100)).toBe(0);
  });
});
