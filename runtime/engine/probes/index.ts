import type { Program } from '../../program/program';
import { BoundaryLocator } from './boundary';
import { GradientLocator } from './gradient';
import { LineLocator } from './line';
import { ModuleLocator } from './module';
import {
  type Location,
  type Locator,
  Probe,
  type ProbeResult,
  type ProbeSpec,
  passesOf,
  reasonOf,
} from './probe';

export { linesOf } from './line';
export { modulePaths } from './module';
export type { LineTarget, ProbeResult, ProbeSpec } from './probe';
export { asksForPass, Probe } from './probe';

function locatorFor(spec: ProbeSpec): Locator {
  const { target } = spec;
  switch (target.kind) {
    case 'boundary':
      return new BoundaryLocator(target.boundary, target.phase, passesOf(spec));
    case 'module':
      return new ModuleLocator(target.glob, target.phase, passesOf(spec));
    case 'gradient':
      return new GradientLocator(target.glob);
    case 'line':
      return new LineLocator(target);
  }
}

/** All breakpoints in force, found by where they lie. */
export class ProbeSet {
  private probes: Probe[] = [];
  private readonly byPlace = new Map<string, Probe[]>();

  constructor(private readonly program: Program) {}

  /** Replaces all probes; hit counts of those that stay the same are kept. */
  set(specs: readonly ProbeSpec[]): ProbeResult[] {
    const old = new Map(this.probes.map((p) => [JSON.stringify(p.spec), p]));
    this.probes = [];
    const results = specs.map((spec) => this.add(spec, old.get(JSON.stringify(spec))));
    this.byPlace.clear();
    for (const probe of this.probes) for (const place of probe.locations) this.index(place, probe);
    return results;
  }

  private add(spec: ProbeSpec, known: Probe | undefined): ProbeResult {
    try {
      const locator = locatorFor(spec);
      const locations = locator.locate(this.program);
      this.probes.push(known ?? new Probe(spec, locations, locator.names(this.program)));
      return { id: spec.id, verified: true, line: locator.line };
    } catch (error) {
      return { id: spec.id, verified: false, message: reasonOf(error) };
    }
  }

  private index(place: Location, probe: Probe): void {
    // The entry of an op and the line it stands on are the same moment.
    const phase = place.phase === 'entry' ? 'before' : place.phase;
    const key = `${place.event}:${phase}`;
    this.byPlace.set(key, [...(this.byPlace.get(key) ?? []), probe]);
  }

  /** The probes at a moment. */
  at(event: number, phase: 'before' | 'inside' | 'after'): readonly Probe[] {
    const key = { before: 'before', inside: 'step', after: 'exit' }[phase];
    return this.byPlace.get(`${event}:${key}`) ?? [];
  }

  /** True when some probe watches the steps of the scan at this event. */
  watchesSteps(event: number): boolean {
    return this.byPlace.has(`${event}:step`);
  }

  resetHits(): void {
    for (const probe of this.probes) probe.hits = 0;
  }
}
