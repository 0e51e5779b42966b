import { describe, expect, it } from 'vitest';
import {
  BOUNDARY_CHOICES,
  type BreakpointForm,
  emptyForm,
  exampleCondition,
  formName,
  formResult,
  layerCondition,
  placeOf,
} from '../../../src/extension/breakpointForm';
import { conditionHint } from '../../../src/extension/conditionHint';
import { parseBreakpointName, splitBreakpointText } from '../../../src/protocol/breakpointSpec';

const form = (change: Partial<BreakpointForm> = {}): BreakpointForm => ({
  ...emptyForm(placeOf('selective_scan'), 'entry'),
  ...change,
});

describe('the form', () => {
  it('gives the simplest breakpoint', () => expect(formResult(form())).toEqual({ text: 'selective_scan' }));

  it('joins layer, direction and condition', () => {
    const filled = form({
      layers: '3',
      direction: 'backward',
      condition: 'delta.max() > 0.1',
      hitCondition: ' 5 ',
    });
    expect(formResult(filled)).toEqual({
      text: 'selective_scan',
      condition: 'layer == 3 and direction == "backward" and delta.max() > 0.1',
      hitCondition: '5',
    });
  });

  it('keeps an "or" together', () => {
    expect(formResult(form({ layers: '3', condition: 'nan(y) > 0 or y.max() > 9' })).condition).toBe(
      'layer == 3 and (nan(y) > 0 or y.max() > 9)',
    );
    expect(formResult(form({ condition: 'a or b' })).condition).toBe('a or b');
  });

  it('carries a log message in the text', () => {
    const { text } = formResult(form({ phase: 'exit', logMessage: 'delta {delta.max()}' }));
    expect(splitBreakpointText(text)).toEqual({
      name: 'selective_scan:exit',
      logMessage: 'delta {delta.max()}',
    });
  });

  it('has no layer or direction for a module', () => {
    const module = form({
      place: placeOf('layers.*.norm'),
      phase: 'exit',
      layers: '3',
      direction: 'backward',
    });
    expect(formResult(module)).toEqual({ text: 'layers.*.norm:exit' });
  });

  it('offers places that are breakpoints, with conditions that make sense', () => {
    for (const { boundary, phase } of BOUNDARY_CHOICES) {
      const place = placeOf(boundary);
      expect(parseBreakpointName(formName({ place, phase }))).toEqual({ kind: 'boundary', boundary, phase });
      expect(conditionHint(exampleCondition(place, phase), [])).toBeUndefined();
    }
  });
});

describe('layers', () => {
  it.each([
    ['', ''],
    ['3', 'layer == 3'],
    ['3-5', 'layer >= 3 and layer <= 5'],
    ['>= 12', 'layer >= 12'],
    ['0, 5,>=20', '(layer == 0 or layer == 5 or layer >= 20)'],
  ])('"%s"', (text, expected) => expect(layerCondition(text)).toBe(expected));

  it('are refused with an example', () =>
    expect(() => layerCondition('last')).toThrow('"last" is not a layer'));
});

describe('the hint about a condition', () => {
  const NAMES = ['u', 'delta', 'A'];
  it.each([
    '',
    'delta.max() > 0.1',
    'layer == 3 and direction == "backward" and delta.max() > 0.1',
    'not (nan(u) > 0) or u[0, 3:5].mean() <= 1e-3',
    'direction in ("forward", \'x && y\')',
    'delta.absmax() != 0',
  ])('is silent for %s', (text) => expect(conditionHint(text, NAMES)).toBeUndefined());

  it.each([
    ['delta.max() > 1 && u.max() > 1', '"and"'],
    ['!u', '"not"'],
    ['layer = 3', '=='],
    ['layer === 3', '=='],
    ['delta.max() >', 'missing at the end'],
    ['and layer == 3', 'missing at the beginning'],
    ['(delta.max() > 1', '")" is missing'],
    ['delta.max()) > 1', '")" closes nothing'],
    ['direction == "back', 'quotation mark'],
    ['dleta.max() > 1', '"dleta" is not known here'],
  ])('says what is wrong with %s', (text, words) => expect(conditionHint(text, NAMES)).toContain(words));

  it('does not guess where nobody knows the names', () =>
    expect(conditionHint('gamma.max() > 1', [])).toBeUndefined());
});
