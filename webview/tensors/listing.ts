/** Which tensors the list shows, in which order and under which headings. No DOM. */
import type { TensorEntry, TensorRole } from '../../src/protocol/requests';
import { formatSite } from '../../src/protocol/site';
import { nonFinite } from '../../src/protocol/summary';
import type { TensorScope } from '../../src/protocol/webview';
import { pinKey } from './identity';
import { isAnomalous } from './shape';

/** What one can filter by; inputs and outputs belong together. */
export type RoleGroup = 'scan' | 'step' | 'io' | 'local' | 'parameter';

export const ROLE_GROUPS: readonly { group: RoleGroup; title: string; short: string }[] = [
  { group: 'scan', title: 'Scan', short: 'Scan' },
  { group: 'step', title: 'Step', short: 'Step' },
  { group: 'io', title: 'Inputs and outputs', short: 'In/out' },
  { group: 'local', title: 'Locals', short: 'Locals' },
  { group: 'parameter', title: 'Parameters', short: 'Params' },
];

export function roleGroup(role: TensorRole): RoleGroup {
  return role === 'input' || role === 'output' ? 'io' : role;
}

/** `site` keeps the order in which the target names them. */
export type SortKey = 'site' | 'name' | 'absmax' | 'nan' | 'size';

export interface ListQuery {
  query: string;
  sort: SortKey;
  scope: TensorScope;
  /** Role groups that are switched off. */
  hidden: readonly RoleGroup[];
  /** Keys of pinned tensors, see `pinKey`. */
  pinned: readonly string[];
}

export interface Section {
  key: string;
  title: string;
  /** The part of the model that all entries lie in, if the section is one. */
  block?: string;
  entries: TensorEntry[];
}

/** The list's sections: pinned ones, then what is not finite, then by role (by part of the model for the whole run). */
export function sectionsOf(entries: readonly TensorEntry[], list: ListQuery): Section[] {
  const shown = entries.filter(
    (entry) => !list.hidden.includes(roleGroup(entry.role)) && matches(entry, list.query),
  );
  const sorted = sortEntries(shown, list.sort);
  const isPinned = (entry: TensorEntry) => list.pinned.includes(pinKey(entry, list.scope));
  const pinned = sorted.filter(isPinned);
  const others = sorted.filter((entry) => !isPinned(entry));
  const sections: Section[] = [
    { key: 'pinned', title: 'Pinned', entries: pinned },
    { key: 'anomalies', title: 'NaN and Inf', entries: others.filter(isAnomalous) },
    ...ordinarySections(
      others.filter((entry) => !isAnomalous(entry)),
      list,
    ),
  ];
  return sections.filter((section) => section.entries.length > 0);
}

function ordinarySections(entries: TensorEntry[], list: ListQuery): Section[] {
  if (list.scope === 'site') {
    return ROLE_GROUPS.map(({ group, title }) => ({
      key: group,
      title,
      entries: entries.filter((entry) => roleGroup(entry.role) === group),
    }));
  }
  // A ranking over the whole run has to stay one list.
  if (list.sort !== 'site') return [{ key: 'all', title: 'Whole run', entries }];
  const byBlock = new Map<string, TensorEntry[]>();
  for (const entry of entries) {
    const block = blockOf(entry.site.module);
    byBlock.set(block, [...(byBlock.get(block) ?? []), entry]);
  }
  return [...byBlock].map(([block, of]) => ({
    key: `block ${block}`,
    title: block || 'model',
    block,
    entries: of,
  }));
}

/** The part of the model that a module lies in: `layers.3` of `layers.3.mixer`, else its first name. */
export function blockOf(module: string): string {
  const layer = /^(?:.*?\.)?(?:layers|blocks)\.\d+(?=\.|$)/.exec(module);
  return layer ? layer[0] : (module.split('.')[0] ?? '');
}

/** What a row says of its site beside its name: nothing, or what the heading above it does not say. */
export function rowSite(entry: TensorEntry, section: Section, scope: TensorScope): string {
  if (scope === 'site') return '';
  if (section.block === undefined) return formatSite(entry.site);
  const parts = entry.site.module.split('.').slice(section.block ? section.block.split('.').length : 0);
  // An op that is a module of its own has the module's name.
  if (parts.at(-1) === entry.name) parts.pop();
  return [parts.join('.'), entry.site.direction].filter(Boolean).join(' ');
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Sorts by one key; what can't be compared (no summary, no finite element) goes last; ties keep their order. */
export function sortEntries(entries: readonly TensorEntry[], sort: SortKey): TensorEntry[] {
  const sorted = [...entries];
  switch (sort) {
    case 'site':
      return sorted;
    case 'name':
      return sorted.sort((a, b) => collator.compare(a.name, b.name));
    case 'absmax':
      return sorted.sort((a, b) => descending(a.summary?.absmax, b.summary?.absmax));
    case 'nan':
      return sorted.sort((a, b) =>
        descending(a.summary ? nonFinite(a.summary) : null, b.summary ? nonFinite(b.summary) : null),
      );
    case 'size':
      return sorted.sort((a, b) => descending(a.summary?.numel, b.summary?.numel));
  }
}

function descending(a: number | null | undefined, b: number | null | undefined): number {
  return (b ?? -1) - (a ?? -1);
}

/** Every word must occur in the name, site, role, axes, type, or be `nan` / `inf` for a tensor that has them. */
export function matches(entry: TensorEntry, query: string): boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const text = searchText(entry);
  return words.every((word) => text.includes(word));
}

function searchText(entry: TensorEntry): string {
  const summary = entry.summary;
  return [
    entry.name,
    formatSite(entry.site),
    entry.role,
    entry.axes.join(' '),
    summary?.dtype ?? '',
    summary?.device ?? '',
    summary && summary.nan > 0 ? 'nan' : '',
    summary && summary.posInf + summary.negInf > 0 ? 'inf' : '',
  ]
    .join('\n')
    .toLowerCase();
}

/** How many entries each role group has, for the filter's labels; groups without any are left out. */
export function countRoles(
  entries: readonly TensorEntry[],
): { group: RoleGroup; short: string; count: number }[] {
  return ROLE_GROUPS.map(({ group, short }) => ({
    group,
    short,
    count: entries.filter((entry) => roleGroup(entry.role) === group).length,
  })).filter(({ count }) => count > 0);
}

/** One line of the list as it is drawn: a heading or a tensor. */
export type Line =
  | { kind: 'heading'; section: Section; collapsed: boolean }
  | { kind: 'row'; entry: TensorEntry; section: Section };

export function linesOf(sections: readonly Section[], collapsed: readonly string[]): Line[] {
  return sections.flatMap((section): Line[] => {
    const closed = collapsed.includes(section.key);
    const rows = closed ? [] : section.entries;
    return [
      { kind: 'heading', section, collapsed: closed },
      ...rows.map((entry): Line => ({ kind: 'row', entry, section })),
    ];
  });
}
