import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Entry } from '../../../runtime/engine/inspector';
import { formatElement } from '../../protocol/numbers';
import { formatSummary, type Summary } from '../../protocol/summary';
import { layoutRows, StatisticsContainer } from './tensorFacts';
import type { Container, Page, VariableContext } from './variable';

/** Without paging in the client, at most this many elements of an axis are listed. */
const UNPAGED = 1000;

type TensorEntry = Extract<Entry, { kind: 'tensor' }>;

/** An entry as a variable; `path` is the expression that gives it. */
export function entryVariable(entry: Entry, context: VariableContext, path: string): DebugProtocol.Variable {
  if (entry.kind === 'tensor') return tensorVariable(entry, context, path);
  return {
    name: entry.name,
    value: entry.value,
    type: entry.type,
    evaluateName: path,
    variablesReference: 0,
  };
}

/** A tensor as one line; its children are facts about it, then its elements along the first axis. */
function tensorVariable(entry: TensorEntry, context: VariableContext, path: string): DebugProtocol.Variable {
  const { summary, name } = entry;
  const container = new TensorContainer(entry.id, path, summary, entry.axes);
  return {
    name,
    value: oneLine(summary),
    type: 'Tensor',
    evaluateName: path,
    variablesReference: context.reference(container),
    namedVariables: container.namedCount,
    indexedVariables: summary.shape[0] ?? 0,
  };
}

/** A single number is shown in full; everything else by its statistics. */
export function oneLine(summary: Summary): string {
  if (summary.shape.length === 0 && summary.min !== null) return formatElement(summary.min);
  return formatSummary(summary);
}

class TensorContainer implements Container {
  readonly key: string;

  constructor(
    private readonly id: string,
    private readonly path: string,
    private readonly summary: Summary,
    private readonly axes: readonly string[],
  ) {
    this.key = `tensor/${path}/${id}`;
  }

  get namedCount(): number {
    return layoutRows(this.summary, this.axes).length + 1;
  }

  async children(context: VariableContext, page: Page): Promise<DebugProtocol.Variable[]> {
    const named = page.filter === 'indexed' ? [] : this.facts(context);
    const indexed = page.filter === 'named' ? [] : await this.elements(context, page);
    return [...named, ...indexed];
  }

  private facts(context: VariableContext): DebugProtocol.Variable[] {
    const statistics = new StatisticsContainer(this.path, this.summary);
    return [
      ...layoutRows(this.summary, this.axes),
      {
        name: 'statistics',
        value: '',
        variablesReference: context.reference(statistics),
        presentationHint: { kind: 'virtual' },
      },
    ];
  }

  private async elements(context: VariableContext, page: Page): Promise<DebugProtocol.Variable[]> {
    const size = this.summary.shape[0] ?? 0;
    if (size === 0) return [];
    // The page counts elements only when the client asked for elements.
    const start = page.filter === 'indexed' ? page.start : 0;
    const count = page.filter === 'indexed' && page.count > 0 ? page.count : UNPAGED;
    const entries = await context.engine.call('children', this.id, start, Math.min(count, size - start));
    return entries.map((entry) => ({
      ...entryVariable(entry, context, `${this.path}[${entry.name}]`),
      name: `[${entry.name}]`,
    }));
  }
}
