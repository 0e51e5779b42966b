import { formatSite, type Site } from '../../src/protocol/site';
import type { Op } from '../program/op';
import { bodyPlace, innermost, type SourcePlace } from '../program/source';
import { kindOf, type Level, levelsAt, siteOf } from './names';
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
  const { op, scope, trace, pass } = level;
  const key = `${op ? `op${op.index}` : `scope${scope.serial}`}${pass === 'backward' ? 'grad' : ''}`;
  const place = op ? (state.recurrencePlace ?? innermost(trace)) : bodyPlace(trace, scope.depth);
  const name = op ? opTitle(op, site) : scope.path ? `${scope.kind} ${scope.path}` : scope.kind;
  return { key, name: pass === 'backward' ? `gradient of ${name}` : name, place, site };
}

function opTitle(op: Op, site: Site): string {
  const kind = kindOf(op);
  const words = [op.name === kind || op.module === op.scope.path ? kind : `${op.name} · ${kind}`];
  if (op.direction) words.push(op.direction);
  if (site.t !== undefined) words.push(`t ${site.t}`);
  return words.join(' · ');
}

/** The text of the current moment's site, for titles. */
export function siteText(state: RunState): string {
  const [level] = levelsAt(state);
  return level ? formatSite(siteOf(level, state.position)) : '';
}
