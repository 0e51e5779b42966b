import { useEffect } from 'preact/hooks';
import type { TensorEntry } from '../../src/protocol/requests';
import { formatSite } from '../../src/protocol/site';
import type { Summary } from '../../src/protocol/summary';
import { Button, type Choice, IconButton, Segments } from '../ui/controls';
import { BackIcon, CopyIcon, PinIcon, PinnedIcon } from '../ui/icons';
import type { PanelHost } from './app';
import type { TensorData } from './data';
import { Histogram } from './histogram';
import { followTensor, pinKey } from './identity';
import type { Action, Model, OpenTensor } from './model';
import { Plane } from './plane';
import { Badges, Shape } from './row';
import { badgesOf, factsOf, isAnomalous, lineOf } from './shape';

interface DetailProps {
  model: Model;
  open: OpenTensor;
  data: TensorData;
  host: PanelHost;
  dispatch: (action: Action) => void;
}

/** One tensor: what it is, how it is distributed, and its values as a picture or as numbers. */
export function Detail({ model, open, data, host, dispatch }: DetailProps) {
  const entry = followTensor(model.response?.tensors ?? [], open, model.responseScope);
  useEscape(() =>
    open.window ? dispatch({ type: 'tensor', change: { window: undefined } }) : dispatch({ type: 'close' }),
  );
  if (!entry || !model.response) return <Gone name={open.name} onBack={() => dispatch({ type: 'close' })} />;
  return (
    <div class={`detail${model.state === 'running' ? ' stale' : ''}`}>
      <Head
        entry={entry}
        pinned={model.view.pinned.includes(pinKey(entry, model.responseScope))}
        onBack={() => dispatch({ type: 'close' })}
        onPin={() => dispatch({ type: 'togglePin', key: pinKey(entry, model.responseScope) })}
        onCopy={() => host.post({ type: 'copy', text: lineOf(entry) })}
      />
      {entry.summary && <Statistics summary={entry.summary} />}
      <Plane
        entry={entry}
        stop={model.response.stop}
        running={model.state === 'running'}
        open={open}
        data={data}
        modes={<Modes open={open} dispatch={dispatch} />}
        onChange={(change) => dispatch({ type: 'tensor', change })}
      />
    </div>
  );
}

const MODES: readonly Choice<OpenTensor['mode']>[] = [
  { value: 'picture', label: 'Picture' },
  { value: 'values', label: 'Values' },
];

function Modes({ open, dispatch }: Pick<DetailProps, 'open' | 'dispatch'>) {
  return (
    <Segments
      label="How the values are shown"
      value={open.mode}
      choices={MODES}
      onChange={(mode) => dispatch({ type: 'tensor', change: { mode } })}
    />
  );
}

/** Esc anywhere goes one step back, unless something nearer took it. */
function useEscape(onEscape: () => void): void {
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented) onEscape();
    };
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  });
}

interface HeadProps {
  entry: TensorEntry;
  pinned: boolean;
  onBack: () => void;
  onPin: () => void;
  onCopy: () => void;
}

function Head({ entry, pinned, onBack, onPin, onCopy }: HeadProps) {
  const site = formatSite(entry.site);
  return (
    <header class={`head${isAnomalous(entry) ? ' alert' : ''}`}>
      <div class="bar">
        <IconButton label="Back to the list (Esc)" onClick={onBack}>
          <BackIcon />
        </IconButton>
        <h2 title={entry.name}>{entry.name}</h2>
        <IconButton label="Copy the line" onClick={onCopy}>
          <CopyIcon />
        </IconButton>
        <IconButton label={pinned ? 'Unpin' : 'Pin to the top of the list'} onClick={onPin}>
          {pinned ? <PinnedIcon /> : <PinIcon />}
        </IconButton>
      </div>
      <div class="about">
        <Shape entry={entry} />
        <Badges badges={badgesOf(entry.summary)} />
      </div>
      {site && (
        <div class="site" title={site}>
          {site}
        </div>
      )}
    </header>
  );
}

function Statistics({ summary }: { summary: Summary }) {
  return (
    <>
      <Histogram summary={summary} />
      {summary.numel > 1 && (
        <dl class="facts">
          {factsOf(summary).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function Gone({ name, onBack }: { name: string; onBack: () => void }) {
  return (
    <div class="empty">
      <p>{name} is not known at this site. It comes back when the program stops where it is.</p>
      <Button secondary onClick={onBack}>
        Show the List
      </Button>
    </div>
  );
}
