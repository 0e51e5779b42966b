import { describe, expect, it } from 'vitest';
import {
  blockOf,
  countRoles,
  type ListQuery,
  linesOf,
  matches,
  rowSite,
  sectionsOf,
  sortEntries,
} from '../../../webview/tensors/listing';
import { entryOf, summaryOf } from './samples';

const query = (change: Partial<ListQuery> = {}): ListQuery => ({
  query: '',
  sort: 'site',
  scope: 'site',
  hidden: [],
  pinned: [],
  ...change,
});

const u = entryOf('u');
const delta = entryOf('delta', { summary: summaryOf({ nan: 12 }) });
const y = entryOf('y', { summary: summaryOf({ posInf: 1, absmax: 9 }) });
const h = entryOf('h', { role: 'step' });
const input = entryOf('hidden', { role: 'input' });
const output = entryOf('out', { role: 'output' });
const weight = entryOf('in_proj.weight', { role: 'parameter', summary: null });
const all = [u, delta, y, h, input, output, weight];

const titles = (list: Partial<ListQuery>) =>
  sectionsOf(all, query(list)).map(
    (section) => `${section.title}: ${section.entries.map((e) => e.name).join(' ')}`,
  );

describe('sections', () => {
  it('put pinned first, then what is not finite, then roles', () => {
    expect(titles({ pinned: ['scan y'] })).toEqual([
      'Pinned: y',
      'NaN and Inf: delta',
      'Scan: u',
      'Step: h',
      'Inputs and outputs: hidden out',
      'Parameters: in_proj.weight',
    ]);
  });

  it('leave out hidden roles and what the search does not find', () => {
    expect(titles({ hidden: ['scan', 'io'] })).toEqual(['Step: h', 'Parameters: in_proj.weight']);
    expect(titles({ query: 'proj' })).toEqual(['Parameters: in_proj.weight']);
  });

  it('of a whole run follow the parts of the model, or are one ranking when sorted', () => {
    const later = entryOf('u', { id: 'later', site: { module: 'layers.1.mixer' } });
    const run = [u, later, entryOf('z', { site: u.site })];
    expect(sectionsOf(run, query({ scope: 'run' })).map((s) => [s.title, s.entries.length])).toEqual([
      ['layers.0', 2],
      ['layers.1', 1],
    ]);
    const ranked = sectionsOf(run, query({ scope: 'run', sort: 'name' }));
    expect(ranked.map((s) => s.title)).toEqual(['Whole run']);
  });

  it('pin one tensor of a whole run, not all of its name', () => {
    const later = entryOf('u', { id: 'later' });
    const [pinned] = sectionsOf([u, later], query({ scope: 'run', pinned: ['later'] }));
    expect(pinned.entries).toEqual([later]);
  });
});

describe('sorting', () => {
  const named = (sort: ListQuery['sort']) => sortEntries(all, sort).map((entry) => entry.name);
  it('by name counts numbers as numbers', () => {
    const layers = ['layers.10.norm', 'layers.2.norm'].map((name) => entryOf(name));
    expect(sortEntries(layers, 'name').map((e) => e.name)).toEqual(['layers.2.norm', 'layers.10.norm']);
  });
  it('puts what has no summary last', () => {
    expect(named('absmax')).toEqual(['y', 'u', 'delta', 'h', 'hidden', 'out', 'in_proj.weight']);
    expect(named('nan').slice(0, 2)).toEqual(['delta', 'y']);
    expect(named('size').at(-1)).toBe('in_proj.weight');
  });
  it('does not touch the given list', () => {
    const before = [...all];
    sortEntries(all, 'name');
    expect(all).toEqual(before);
  });
});

describe('search', () => {
  it.each([
    ['', true],
    ['DELTA', true],
    ['layers.0 scan', true],
    ['nan', true],
    ['forward delta', true],
    ['inf', false],
    ['delta backward', false],
  ])('"%s" finds delta: %s', (text, expected) => expect(matches(delta, text)).toBe(expected));
});

describe('what a row says of its site', () => {
  it.each([
    ['layers.3.mixer', 'layers.3'],
    ['backbone.layers.12', 'backbone.layers.12'],
    ['patch_embed.proj', 'patch_embed'],
    ['', ''],
  ])('%s lies in %s', (module, block) => expect(blockOf(module)).toBe(block));

  it('is what the heading does not say', () => {
    const [section] = sectionsOf([u], query({ scope: 'run' }));
    expect(rowSite(u, section, 'run')).toBe('mixer forward');
    const conv = entryOf('conv1d', { site: { module: 'layers.0.mixer.conv1d' } });
    expect(rowSite(conv, section, 'run')).toBe('mixer');
    expect(rowSite(u, { ...section, block: undefined }, 'run')).toBe('layers.0.mixer:selective_scan forward');
    expect(rowSite(u, section, 'site')).toBe('');
  });
});

it('counts roles and leaves out those that nobody has', () => {
  expect(countRoles([u, delta, input, output])).toEqual([
    { group: 'scan', short: 'Scan', count: 2 },
    { group: 'io', short: 'In/out', count: 2 },
  ]);
});

it('folds sections', () => {
  const lines = linesOf(sectionsOf([u, h], query()), ['scan']);
  expect(
    lines.map((line) => (line.kind === 'heading' ? `# ${line.section.title}` : line.entry.name)),
  ).toEqual(['# Scan', '# Step', 'h']);
});
