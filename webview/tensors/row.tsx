import type { TensorEntry } from '../../src/protocol/requests';
import { formatSite } from '../../src/protocol/site';
import type { RowContext } from '../../src/protocol/webview';
import { AlertIcon, PinIcon, PinnedIcon } from '../ui/icons';
import { Sparkline } from './histogram';
import {
  anomalyWords,
  type Badge,
  badgesOf,
  dimensions,
  isAnomalous,
  lineOf,
  splitName,
  spreadOf,
} from './shape';

interface RowProps {
  entry: TensorEntry;
  id: string;
  pinned: boolean;
  selected: boolean;
  /** What is to be said of the site; empty for nothing. */
  site: string;
  top: number;
  onOpen: () => void;
  onPin: () => void;
}

/** One tensor: name, shape, distribution, statistics and whatever is wrong with it. */
export function TensorRow({ entry, id, pinned, selected, site, top, onOpen, onPin }: RowProps) {
  const alert = isAnomalous(entry);
  const [path, leaf] = splitName(entry.name);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keyboard
    <div
      id={id}
      class={`row${alert ? ' alert' : ''}`}
      role="option"
      tabIndex={-1}
      aria-selected={selected}
      aria-label={`${lineOf(entry)}${alert ? `, ${anomalyWords(entry.summary)}` : ''}`}
      title={`${lineOf(entry)}\n${formatSite(entry.site)}`}
      data-vscode-context={JSON.stringify(contextOf(entry))}
      style={{ top: `${top}px` }}
      onClick={onOpen}
    >
      <span class="mark">{alert && <AlertIcon />}</span>
      <span class="line first">
        <span class="name">
          {site && <span class="path site-path">{site}</span>}
          {path && <span class="path">{path}</span>}
          <span class="leaf">{leaf}</span>
        </span>
        <Shape entry={entry} />
      </span>
      <span class="line second">
        <Sparkline summary={entry.summary} />
        <Statistics entry={entry} />
        <Badges badges={badgesOf(entry.summary)} />
      </span>
      <button
        type="button"
        class={`pin${pinned ? ' on' : ''}`}
        tabIndex={-1}
        title={pinned ? 'Unpin (P)' : 'Pin to the top (P)'}
        aria-label={`${pinned ? 'Unpin' : 'Pin'} ${entry.name}`}
        onClick={(event) => {
          event.stopPropagation();
          onPin();
        }}
      >
        {pinned ? <PinnedIcon /> : <PinIcon />}
      </button>
    </div>
  );
}

function contextOf(entry: TensorEntry): RowContext {
  return {
    webviewSection: 'tensor',
    preventDefaultContextMenuItems: true,
    name: entry.name,
    site: formatSite(entry.site),
    line: lineOf(entry),
  };
}

/** `B 1 × D 384 × L 197`, or the sizes alone where the axes have no names. */
export function Shape({ entry }: { entry: TensorEntry }) {
  if (!entry.summary) return <span class="shape">{entry.axes.filter(Boolean).join(' × ')}</span>;
  const dims = dimensions(entry.summary.shape, entry.axes);
  if (dims.length === 0) return <span class="shape">scalar</span>;
  return (
    <span class="shape">
      {dims.map((dim, axis) => (
        <>
          {axis > 0 && <i>×</i>}
          {dim.name && <b>{dim.name}</b>}
          {dim.size}
        </>
      ))}
    </span>
  );
}

function Statistics({ entry }: { entry: TensorEntry }) {
  const spread = spreadOf(entry.summary);
  switch (spread.kind) {
    case 'unknown':
      return <span class="range dull">not summarised</span>;
    case 'empty':
      return <span class="range dull">empty</span>;
    case 'none':
      return <span class="range dull">nothing finite</span>;
    case 'single':
      return <span class="range">= {spread.value}</span>;
    case 'flat':
      return <span class="range">all {spread.value}</span>;
    case 'range':
      return (
        <>
          <span class="range">
            {spread.min}
            <i>‥</i>
            {spread.max}
          </span>
          <span class="moments">
            <span>
              <i>μ</i>
              {spread.mean}
            </span>
            <span>
              <i>σ</i>
              {spread.std}
            </span>
          </span>
        </>
      );
  }
}

export function Badges({ badges }: { badges: readonly Badge[] }) {
  return (
    <span class="badges">
      {badges.map((badge) => (
        <span key={badge.text} class={`badge ${badge.kind}`} title={badge.title}>
          {badge.text}
        </span>
      ))}
    </span>
  );
}
