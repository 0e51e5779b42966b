import type { DebugProtocol } from '@vscode/debugprotocol';
import type { ScopeName } from '../../../runtime/engine/inspector';
import { entryVariable } from './tensorVariable';
import type { Container, Page, VariableContext } from './variable';

/** One scope of a frame: Scan, Step, Parameters, ... */
export class ScopeContainer implements Container {
  readonly key: string;

  constructor(
    private readonly frameKey: string,
    private readonly scope: ScopeName,
  ) {
    this.key = `${frameKey}/${scope}`;
  }

  async children(context: VariableContext, page: Page): Promise<DebugProtocol.Variable[]> {
    if (page.filter === 'indexed') return [];
    const entries = await context.engine.call('entries', context.levelOf(this.frameKey), this.scope);
    const end = page.count > 0 ? page.start + page.count : entries.length;
    return entries.slice(page.start, end).map((entry) => entryVariable(entry, context, entry.name));
  }
}
