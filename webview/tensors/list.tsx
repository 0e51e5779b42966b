import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TensorEntry } from '../../src/protocol/requests';
import type { TensorScope } from '../../src/protocol/webview';
import { useSize } from '../ui/hooks';
import { ChevronIcon } from '../ui/icons';
import { type Line, rowSite, type Section } from './listing';
import { TensorRow } from './row';
import { offsetsOf, scrollToShow, visibleLines } from './scrolling';

/** From this width on a tensor takes a single line. */
const WIDE = 700;
const HEADING = 22;

interface ListProps {
  lines: readonly Line[];
  selected?: string;
  isPinned: (entry: TensorEntry) => boolean;
  scope: TensorScope;
  /** An older stop's tensors, shown while the program runs. */
  stale: boolean;
  onSelect: (id: string) => void;
  onOpen: (entry: TensorEntry) => void;
  onPin: (entry: TensorEntry) => void;
  onSection: (key: string) => void;
  onSearch: () => void;
}

/** The tensors under their headings; only lines in view are in the document, so a whole run scrolls smoothly. */
export function TensorList(props: ListProps) {
  const { lines, selected } = props;
  const [ref, size] = useSize<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const wide = size.width >= WIDE;
  const rowHeight = wide ? 22 : 38;
  const offsets = useMemo(
    () => offsetsOf(lines.map((line) => (line.kind === 'heading' ? HEADING : rowHeight))),
    [lines, rowHeight],
  );
  const { from, to } = visibleLines(offsets, top, size.height);
  const show = (line: number) => {
    const list = ref.current;
    if (list) list.scrollTop = scrollToShow(offsets, line, list.scrollTop, list.clientHeight);
  };
  useRestoredFocus(ref);
  return (
    <div
      ref={ref}
      class={`list${wide ? ' wide' : ''}${props.stale ? ' stale' : ''}`}
      role="listbox"
      tabIndex={0}
      aria-label="Tensors"
      aria-activedescendant={selected && `t ${selected}`}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={(event) => handleKey(event, props, Math.floor(size.height / rowHeight) - 1, show)}
    >
      <div class="canvas" style={{ height: `${offsets[lines.length]}px` }}>
        {lines.slice(from, to).map((line, i) => {
          const y = offsets[from + i];
          return line.kind === 'heading' ? (
            <Heading
              key={`s ${line.section.key}`}
              section={line.section}
              collapsed={line.collapsed}
              top={y}
              onToggle={() => props.onSection(line.section.key)}
            />
          ) : (
            <TensorRow
              key={`t ${line.entry.id}`}
              id={`t ${line.entry.id}`}
              entry={line.entry}
              pinned={props.isPinned(line.entry)}
              selected={line.entry.id === selected}
              site={rowSite(line.entry, line.section, props.scope)}
              top={y}
              onOpen={() => props.onOpen(line.entry)}
              onPin={() => props.onPin(line.entry)}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Coming back from a tensor, the keys go on where they were. */
function useRestoredFocus(ref: { current: HTMLElement | null }): void {
  const first = useRef(true);
  useLayoutEffect(() => {
    if (first.current && document.hasFocus()) ref.current?.focus({ preventScroll: true });
    first.current = false;
  });
}

interface HeadingProps {
  section: Section;
  collapsed: boolean;
  top: number;
  onToggle: () => void;
}

function Heading({ section, collapsed, top, onToggle }: HeadingProps) {
  return (
    <button
      type="button"
      class={`heading${section.key === 'anomalies' ? ' alert' : ''}`}
      tabIndex={-1}
      aria-expanded={!collapsed}
      style={{ top: `${top}px` }}
      onClick={onToggle}
    >
      <span class={`twistie${collapsed ? ' closed' : ''}`}>
        <ChevronIcon />
      </span>
      <span class="title">{section.title}</span>
      <span class="count">{section.entries.length}</span>
    </button>
  );
}

function handleKey(event: KeyboardEvent, props: ListProps, page: number, show: (line: number) => void): void {
  const { lines, selected } = props;
  const at = lines.findIndex((line) => line.kind === 'row' && line.entry.id === selected);
  const current = lines[at];
  const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in moves) move(at + moves[event.key], moves[event.key]);
  else if (event.key === 'Home') move(0, 1);
  else if (event.key === 'End') move(lines.length - 1, -1);
  else if (event.key === '/') props.onSearch();
  else if (event.key === 'Enter' && current?.kind === 'row') props.onOpen(current.entry);
  else if (event.key.toLowerCase() === 'p' && current?.kind === 'row') props.onPin(current.entry);
  else return;
  event.preventDefault();

  /** Selects the row nearest to `target`, looking on in the direction of travel first. */
  function move(target: number, direction: number): void {
    const start = Math.min(lines.length - 1, Math.max(0, target));
    const step = Math.sign(direction);
    const found = nextRow(lines, start, step) ?? nextRow(lines, start, -step);
    if (found === undefined) return;
    const line = lines[found];
    if (line.kind === 'row') props.onSelect(line.entry.id);
    // A heading above the first row of its section comes into view with it.
    show(lines[found - 1]?.kind === 'heading' && step < 0 ? found - 1 : found);
  }
}

function nextRow(lines: readonly Line[], from: number, step: number): number | undefined {
  for (let i = from; i >= 0 && i < lines.length; i += step) if (lines[i].kind === 'row') return i;
  return undefined;
}
