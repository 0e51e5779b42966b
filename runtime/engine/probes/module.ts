import { BreakpointSpecError, matchGlob } from '../../../src/protocol/breakpointSpec';
import { closest } from '../../../src/protocol/spelling';
import type { Program } from '../../program/program';
import type { Location, Locator } from './probe';

/** Stops where a module is entered or left; a layer without code of its own (`in_proj`) is its op. */
export class ModuleLocator implements Locator {
  constructor(
    private readonly glob: string,
    private readonly phase: 'entry' | 'exit',
  ) {}

  locate(program: Program): Location[] {
    const matches = matchGlob(this.glob);
    const found = program.events.flatMap((e, event): Location[] => {
      // The backward pass enters the modules again; its tensors are others, so it is asked for by `grad:`.
      if (e.pass === 'backward') return [];
      if (e.kind === 'op')
        return e.op.module !== e.scope.path && matches(e.op.module) ? [{ event, phase: this.phase }] : [];
      const wanted = this.phase === 'entry' ? 'enter' : 'exit';
      return e.kind === wanted && e.scope.parent && matches(e.scope.path) ? [{ event, phase: 'before' }] : [];
    });
    if (found.length === 0) throw new BreakpointSpecError(this.missing(program));
    return found;
  }

  private missing(program: Program): string {
    const paths = modulePaths(program);
    const hint = closest(this.glob, paths);
    return `No module of this model matches "${this.glob}"${hint ? `; did you mean "${hint}"?` : `; it has e.g. ${paths.slice(0, 4).join(', ')}.`}`;
  }

  names(program: Program): string[] {
    const matches = matchGlob(this.glob);
    const names = new Set<string>();
    for (const e of program.events) {
      if (e.pass === 'backward') continue;
      const what = e.kind === 'op' ? e.op : e.scope;
      if (!matches(e.kind === 'op' ? e.op.module : e.scope.path)) continue;
      for (const name of Object.keys(what.inputs)) names.add(name);
      if (this.phase === 'exit') for (const name of Object.keys(what.outputs)) names.add(name);
    }
    return [...names];
  }
}

/** Every module path that a breakpoint can name, in the order of the model. */
export function modulePaths(program: Program): string[] {
  const paths = program.events.flatMap((e) =>
    e.kind === 'enter' ? [e.scope.path] : e.kind === 'op' ? [e.op.module] : [],
  );
  return [...new Set(paths)].filter((path) => path !== '');
}
