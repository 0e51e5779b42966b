import type { ComponentChildren, TargetedPointerEvent } from 'preact';
import { useState } from 'preact/hooks';
import { type CellWindow, cellSpan } from './cells';
import type { PictureSpace } from './picture';
import type { Window } from './slicing';

/** A cell of the picture. */
export interface Cell {
  row: number;
  column: number;
}

interface SurfaceProps {
  window: CellWindow;
  size: PictureSpace;
  cursor?: Cell;
  onCursor: (cell: Cell | undefined) => void;
  onZoom: (window: Window) => void;
  /** A click on a cell: the element in its corner. */
  onPick: (element: Cell) => void;
  children: ComponentChildren;
}

/** Pointer and keyboard on the picture: a cursor of one cell, a drag that zooms, a click that shows the numbers. */
export function Surface({ window: cells, size, cursor, onCursor, onZoom, onPick, children }: SurfaceProps) {
  const [drag, setDrag] = useState<{ from: Cell; to: Cell }>();
  const cellAt = (event: TargetedPointerEvent<HTMLElement>): Cell => {
    const box = event.currentTarget.getBoundingClientRect();
    const place = (at: number, extent: number, count: number) =>
      Math.min(count - 1, Math.max(0, Math.floor((at * count) / extent)));
    return {
      row: place(event.clientY - box.top, box.height, cells.rows),
      column: place(event.clientX - box.left, box.width, cells.columns),
    };
  };
  const onMove = (event: TargetedPointerEvent<HTMLElement>) => {
    const cell = cellAt(event);
    onCursor(cell);
    if (drag) setDrag({ ...drag, to: cell });
  };
  const onUp = () => {
    setDrag(undefined);
    if (!drag) return;
    if (drag.from.row === drag.to.row && drag.from.column === drag.to.column)
      onPick(elementOf(cells, drag.from));
    else onZoom(windowOf(cells, drag.from, drag.to));
  };
  const marked = drag ? boxOf(drag.from, drag.to) : cursor && boxOf(cursor, cursor);
  return (
    <div
      class="surface"
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes the keys itself
      tabIndex={0}
      aria-label="Picture of the values; arrow keys move the cursor, Enter shows the numbers"
      onPointerMove={onMove}
      onPointerLeave={() => !drag && onCursor(undefined)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const cell = cellAt(event);
        setDrag({ from: cell, to: cell });
      }}
      onPointerUp={onUp}
      onPointerCancel={() => setDrag(undefined)}
      onKeyDown={(event) => handleKey(event, cells, cursor, onCursor, onPick)}
    >
      {children}
      {marked && (
        <span
          class={drag ? 'marked zoom' : 'marked'}
          style={{
            left: `${(marked.left * size.width) / cells.columns}px`,
            top: `${(marked.top * size.height) / cells.rows}px`,
            width: `${(marked.columns * size.width) / cells.columns}px`,
            height: `${(marked.rows * size.height) / cells.rows}px`,
          }}
        />
      )}
    </div>
  );
}

function handleKey(
  event: KeyboardEvent,
  cells: CellWindow,
  cursor: Cell | undefined,
  onCursor: (cell: Cell) => void,
  onPick: (element: Cell) => void,
): void {
  const moves: Record<string, [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  };
  const step = moves[event.key];
  const at = cursor ?? { row: 0, column: 0 };
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (step) {
    const far = event.shiftKey ? 10 : 1;
    onCursor({
      row: Math.min(cells.rows - 1, Math.max(0, at.row + far * step[0])),
      column: Math.min(cells.columns - 1, Math.max(0, at.column + far * step[1])),
    });
  } else if (event.key === 'Enter') onPick(elementOf(cells, at));
  else return;
  event.preventDefault();
}

function boxOf(from: Cell, to: Cell): { left: number; top: number; columns: number; rows: number } {
  return {
    left: Math.min(from.column, to.column),
    top: Math.min(from.row, to.row),
    columns: Math.abs(from.column - to.column) + 1,
    rows: Math.abs(from.row - to.row) + 1,
  };
}

function elementOf(cells: CellWindow, cell: Cell): Cell {
  return {
    row: cellSpan(cell.row, cells.rows, cells.rowStart, cells.rowCount)[0],
    column: cellSpan(cell.column, cells.columns, cells.columnStart, cells.columnCount)[0],
  };
}

function windowOf(cells: CellWindow, from: Cell, to: Cell): Window {
  const box = boxOf(from, to);
  const first = elementOf(cells, { row: box.top, column: box.left });
  const lastRow = cellSpan(box.top + box.rows - 1, cells.rows, cells.rowStart, cells.rowCount)[1];
  const lastColumn = cellSpan(
    box.left + box.columns - 1,
    cells.columns,
    cells.columnStart,
    cells.columnCount,
  )[1];
  return {
    rowStart: first.row,
    rowCount: lastRow - first.row + 1,
    columnStart: first.column,
    columnCount: lastColumn - first.column + 1,
  };
}
