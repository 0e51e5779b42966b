import { formatSite, type Site } from '../../src/protocol/site';
import { bodyPlace, innermost, type SourcePlace } from '../program/source';
import { type Level, levelsAt, siteOf } from './names';
import type { RunState } from './state';

/** One level of the call stack, innermost first. */
export interface Frame {
  /** Stable across stops: the same module or op has the same key. */
  readonly key: string;
  readonly name: string;
  readonly place?: SourcePlace;
  readonly site: Site;
}

/** The call stack at the current position: the op, then one frame per module level. */
export function framesAt(state: RunState): Frame[] {
  return levelsAt(state).map((level) => frameOf(state, level));
}

function frameOf(state: RunState, level: Level): Frame {
  const site = siteOf(level, state.position);
  if (!level.op) {
    const { kind, path, depth } = level.scope;
    return {
      key: `scope${level.scope.serial}`,
      name: path ? `${kind} ${path}` : kind,
      place: bodyPlace(level.trace, depth),
      site,
    };
  }
  const { op } = level;
  const title = op.name === op.kind.name ? op.name : `${op.name} · ${op.kind.name}`;
  const words = [
    title,
    ...(op.direction ? [op.direction] : []),
    ...(site.t === undefined ? [] : [`t ${site.t}`]),
  ];
  const place = (state.recurrence && state.recurrencePlace) ?? innermost(op.trace);
  return { key: `op${op.index}`, name: words.join(' · '), place, site };
}

/** The text of the current moment's site, for titles. */
export function siteText(state: RunState): string {
  const [level] = levelsAt(state);
  return level ? formatSite(siteOf(level, state.position)) : '';
}
