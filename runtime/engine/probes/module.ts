import { BreakpointSpecError, matchGlob } from '../../../src/protocol/breakpointSpec';
import type { Pass } from '../../../src/protocol/site';
import { closest } from '../../../src/protocol/spelling';
import type { Event, Program } from '../../program/program';
import { kindOf } from '../names';
import { type Location, type Locator, noBackwardPass } from './probe';

/** Stops where a module is entered or left; a layer without code of its own (`in_proj`) is its op. */
export class ModuleLocator implements Locator {
  private readonly matches: (path: string) => boolean;

  constructor(
    private readonly glob: string,
    private readonly phase: 'entry' | 'exit',
    private readonly passes: readonly Pass[],
  ) {
    this.matches = matchGlob(glob);
  }

  locate(program: Program): Location[] {
    const wanted = this.phase === 'entry' ? 'enter' : 'exit';
    const found = program.events.flatMap((e, event): Location[] => {
      if (!this.isOne(e)) return [];
      if (e.kind === 'op') return [{ event, phase: this.phase }];
      return e.kind === wanted ? [{ event, phase: 'before' }] : [];
    });
    if (found.length > 0) return found;
    if (!this.passes.includes('forward') && program.gradients.size === 0) throw noBackwardPass();
    throw new BreakpointSpecError(this.missing(program));
  }

  /** An event of a module in a pass that is watched; of the gradient ops those that are a layer's own. */
  private isOne(e: Event): boolean {
    if (!this.passes.includes(e.pass ?? 'forward')) return false;
    if (e.kind !== 'op') return e.scope.parent !== undefined && this.matches(e.scope.path);
    const { op } = e;
    const own = !op.forward || kindOf(op) === op.forward.kind.name;
    return own && op.module !== e.scope.path && this.matches(op.module);
  }

  private missing(program: Program): string {
    const paths = modulePaths(program);
    const hint = closest(this.glob, paths);
    return `No module of this model matches "${this.glob}"${hint ? `; did you mean "${hint}"?` : `; it has e.g. ${paths.slice(0, 4).join(', ')}.`}`;
  }

  names(program: Program): string[] {
    const names = program.events
      .filter((e) => this.isOne(e))
      .flatMap((e) => {
        const what = e.kind === 'op' ? e.op : e.scope;
        return [...Object.keys(what.inputs), ...(this.phase === 'exit' ? Object.keys(what.outputs) : [])];
      });
    return [...new Set(names)];
  }
}

/** Every module path that a breakpoint can name, in the order of the model. */
export function modulePaths(program: Program): string[] {
  const paths = program.events.flatMap((e) =>
    e.kind === 'enter' ? [e.scope.path] : e.kind === 'op' ? [e.op.module] : [],
  );
  return [...new Set(paths)].filter((path) => path !== '');
}
