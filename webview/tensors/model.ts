/** What the panel knows and how messages and clicks change it. No DOM. */
import type { TensorEntry, TensorRole, TensorsResponse } from '../../src/protocol/requests';
import type { PanelState, TensorScope, ToPanel } from '../../src/protocol/webview';
import type { ScaleChoice } from './colorScale';
import type { RoleGroup, SortKey } from './listing';
import type { Slice, Window } from './slicing';

/** The tensor that is looked at, and how. */
export interface OpenTensor {
  id: string;
  /** With these the viewer follows from stop to stop. */
  name: string;
  role: TensorRole;
  mode: 'picture' | 'values';
  scale: ScaleChoice;
  /** Colours span the whole tensor's range instead of the window's. */
  wholeRange: boolean;
  slice?: Slice;
  window?: Window;
  /** The element of the drawn plane that the value page shows. */
  at: { row: number; column: number };
}

/** What the person chose; kept while the view is hidden. */
export interface View {
  query: string;
  sort: SortKey;
  scope: TensorScope;
  hidden: RoleGroup[];
  /** Keys of pinned tensors, see `pinKey`. */
  pinned: string[];
  /** Keys of sections that are folded. */
  collapsed: string[];
  /** Id of the row that the keyboard is on. */
  selected?: string;
  open?: OpenTensor;
}

export interface Model {
  state: PanelState;
  target?: string;
  response?: TensorsResponse;
  /** Scope that `response` is for. */
  responseScope: TensorScope;
  loading: boolean;
  error?: string;
  view: View;
}

export type Action =
  | { type: 'message'; message: ToPanel }
  | { type: 'view'; change: Partial<View> }
  | { type: 'togglePin'; key: string }
  | { type: 'toggleSection'; key: string }
  | { type: 'toggleRole'; group: RoleGroup }
  | { type: 'open'; entry: TensorEntry }
  | { type: 'close' }
  | { type: 'tensor'; change: Partial<OpenTensor> };

const DEFAULT_VIEW: View = { query: '', sort: 'site', scope: 'site', hidden: [], pinned: [], collapsed: [] };

/** The first model; `kept` is whatever an earlier life of the view left, possibly of another version. */
export function initialModel(kept: unknown): Model {
  return { state: 'noSession', responseScope: 'site', loading: false, view: restoreView(kept) };
}

function restoreView(kept: unknown): View {
  if (typeof kept !== 'object' || kept === null) return DEFAULT_VIEW;
  const view = { ...DEFAULT_VIEW, ...(kept as Partial<View>) };
  const sound =
    typeof view.query === 'string' &&
    (view.scope === 'site' || view.scope === 'run') &&
    [view.hidden, view.pinned, view.collapsed].every(Array.isArray);
  return sound ? view : DEFAULT_VIEW;
}

export function reduce(model: Model, action: Action): Model {
  if (action.type === 'message') return receive(model, action.message);
  return { ...model, view: changeView(model.view, action) };
}

function receive(model: Model, message: ToPanel): Model {
  switch (message.type) {
    case 'state':
      return receiveState(model, message);
    case 'loading':
      return { ...model, loading: true, error: undefined };
    case 'tensors':
      return {
        ...model,
        response: message.response,
        responseScope: message.scope,
        loading: false,
        error: undefined,
      };
    case 'tensorsFailed':
      return { ...model, loading: false, error: message.message };
    default:
      return model;
  }
}

function receiveState(model: Model, { state, target }: ToPanel & { type: 'state' }): Model {
  const { responseScope, view } = model;
  if (state === 'noSession') return { state, responseScope, loading: false, view };
  if (state === 'stopped') return { ...model, state, target };
  // What failed or is on its way belongs to a stop that is over.
  return { ...model, state, target, loading: false, error: undefined };
}

function changeView(view: View, action: Exclude<Action, { type: 'message' }>): View {
  switch (action.type) {
    case 'view':
      return { ...view, ...action.change };
    case 'togglePin':
      return { ...view, pinned: toggled(view.pinned, action.key) };
    case 'toggleSection':
      return { ...view, collapsed: toggled(view.collapsed, action.key) };
    case 'toggleRole':
      return { ...view, hidden: toggled(view.hidden, action.group) };
    case 'open':
      return { ...view, selected: action.entry.id, open: openTensor(action.entry, view.open) };
    case 'close':
      return { ...view, open: undefined };
    case 'tensor':
      return view.open ? { ...view, open: { ...view.open, ...action.change } } : view;
  }
}

function openTensor(entry: TensorEntry, before: OpenTensor | undefined): OpenTensor {
  if (before?.id === entry.id && before.role === entry.role) return before;
  return {
    id: entry.id,
    name: entry.name,
    role: entry.role,
    mode: before?.mode ?? 'picture',
    scale: before?.scale ?? 'auto',
    wholeRange: before?.wholeRange ?? false,
    at: { row: 0, column: 0 },
  };
}

function toggled<T>(list: readonly T[], item: T): T[] {
  return list.includes(item) ? list.filter((other) => other !== item) : [...list, item];
}
