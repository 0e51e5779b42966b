import { useEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import { formatCount } from '../../src/protocol/numbers';
import type { FromPanel, ToPanel } from '../../src/protocol/webview';
import { Button, Spinner } from '../ui/controls';
import { useLasting } from '../ui/hooks';
import type { Host } from '../ui/host';
import { TensorData } from './data';
import { Detail } from './detail';
import { NoSession, Running } from './emptyState';
import { pinKey } from './identity';
import { TensorList } from './list';
import { linesOf, sectionsOf } from './listing';
import { type Action, initialModel, type Model, reduce } from './model';
import { Toolbar } from './toolbar';

export type PanelHost = Host<ToPanel, FromPanel>;

/** The panel: a list of tensors, or one of them. */
export function App({ host }: { host: PanelHost }) {
  const [model, dispatch] = useReducer(reduce, host.kept(), initialModel);
  const data = useMemo(() => new TensorData(host.post), [host]);
  const scope = useRef(model.view.scope);
  useEffect(() => {
    host.listen((message) => {
      data.receive(message);
      dispatch({ type: 'message', message });
    });
    host.post({ type: 'ready', scope: scope.current });
  }, [host, data]);
  useEffect(() => host.keep(model.view), [host, model.view]);
  const slow = useLasting(model.loading);
  return (
    <>
      <div class={`progress${slow ? ' on' : ''}`} />
      <Content model={model} dispatch={dispatch} host={host} data={data} slow={slow} />
    </>
  );
}

interface ContentProps {
  model: Model;
  dispatch: (action: Action) => void;
  host: PanelHost;
  data: TensorData;
  slow: boolean;
}

function Content({ model, dispatch, host, data, slow }: ContentProps) {
  const command = (name: 'debugExample' | 'addScanBreakpoint') =>
    host.post({ type: 'command', command: name });
  if (model.state === 'noSession') return <NoSession onCommand={command} />;
  if (model.error) return <Failure message={model.error} onRetry={() => refresh(model, host)} />;
  if (!model.response) {
    if (model.state === 'running') return <Running target={model.target} onCommand={command} />;
    return slow ? <Spinner label="Reading the tensors" /> : null;
  }
  if (model.view.open) {
    return <Detail model={model} open={model.view.open} data={data} host={host} dispatch={dispatch} />;
  }
  return <Tensors model={model} dispatch={dispatch} host={host} />;
}

function refresh(model: Model, host: PanelHost, complete = false): void {
  host.post({ type: 'refresh', scope: model.view.scope, complete });
}

function Tensors({ model, dispatch, host }: Omit<ContentProps, 'data' | 'slow'>) {
  const { view, response } = model;
  const focusSearch = useRef<(() => void) | undefined>(undefined);
  const entries = response?.tensors ?? [];
  const lines = useMemo(
    () => linesOf(sectionsOf(entries, { ...view, scope: model.responseScope }), view.collapsed),
    [entries, view, model.responseScope],
  );
  return (
    <div class="tensors">
      <Toolbar
        view={view}
        entries={entries}
        focusRef={focusSearch}
        onChange={(change) => dispatch({ type: 'view', change })}
        onScope={(scope) => {
          dispatch({ type: 'view', change: { scope } });
          host.post({ type: 'refresh', scope });
        }}
        onRole={(group) => dispatch({ type: 'toggleRole', group })}
        onLeave={() => document.querySelector<HTMLElement>('.list')?.focus()}
      />
      {lines.length === 0 ? (
        <Nothing model={model} dispatch={dispatch} />
      ) : (
        <TensorList
          lines={lines}
          selected={view.selected}
          isPinned={(entry) => view.pinned.includes(pinKey(entry, model.responseScope))}
          scope={model.responseScope}
          stale={model.state === 'running'}
          onSelect={(id) => dispatch({ type: 'view', change: { selected: id } })}
          onOpen={(entry) => dispatch({ type: 'open', entry })}
          onPin={(entry) => dispatch({ type: 'togglePin', key: pinKey(entry, model.responseScope) })}
          onSection={(key) => dispatch({ type: 'toggleSection', key })}
          onSearch={() => focusSearch.current?.()}
        />
      )}
      {response && response.leftOut > 0 && (
        <div class="left-out">
          <span>{formatCount(response.leftOut)} not summarised to keep the stop fast.</span>
          <button type="button" class="link" onClick={() => refresh(model, host, true)}>
            Summarise all
          </button>
        </div>
      )}
    </div>
  );
}

/** An empty list, and how it gets full again. */
function Nothing({ model, dispatch }: Pick<ContentProps, 'model' | 'dispatch'>) {
  const count = model.response?.tensors.length ?? 0;
  if (count === 0) {
    return (
      <div class="empty">No tensor is known here. Select another frame of the call stack, or step on.</div>
    );
  }
  return (
    <div class="empty">
      <p>None of the {formatCount(count)} tensors fits the search and the roles chosen above.</p>
      <Button secondary onClick={() => dispatch({ type: 'view', change: { query: '', hidden: [] } })}>
        Show All
      </Button>
    </div>
  );
}

/** What went wrong in one sentence, and the way to try again. */
export function Failure({ message, onRetry }: { message: string; onRetry: () => void }) {
  return (
    <div class="empty failure" role="alert">
      <p>{message}</p>
      <Button secondary onClick={onRetry}>
        Try Again
      </Button>
    </div>
  );
}
