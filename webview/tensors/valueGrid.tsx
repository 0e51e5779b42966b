import { formatElement } from '../../src/protocol/numbers';
import { IconButton } from '../ui/controls';
import { BackIcon, NextIcon } from '../ui/icons';
import type { CellWindow } from './cells';
import { axisName } from './shape';
import { fullWindow, PAGE, type Slice } from './slicing';

interface GridProps {
  window: CellWindow;
  slice: Slice;
  shape: number[];
  at: { row: number; column: number };
  onMove: (at: { row: number; column: number }) => void;
}

/** A page of numbers in full precision; headers are indices. */
export function ValueGrid({ window: cells, slice, shape, at, onMove }: GridProps) {
  const full = fullWindow(slice, shape);
  const columns = Array.from({ length: cells.columns }, (_, i) => cells.columnStart + i);
  const rows = Array.from({ length: cells.rows }, (_, i) => cells.rowStart + i);
  return (
    <div class="values">
      <div class="pagers">
        {slice.rowAxis !== null && (
          <Pager
            name={`${axisName(cells.axes, slice.rowAxis)} ↓`}
            start={cells.rowStart}
            shown={cells.rowCount}
            count={full.rowCount}
            onStart={(row) => onMove({ ...at, row })}
          />
        )}
        {slice.columnAxis !== null && (
          <Pager
            name={`${axisName(cells.axes, slice.columnAxis)} →`}
            start={cells.columnStart}
            shown={cells.columnCount}
            count={full.columnCount}
            onStart={(column) => onMove({ ...at, column })}
          />
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the table scrolls by keyboard */}
      <div class="scroller" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th />
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, r) => (
              <tr key={row}>
                <th scope="row">{slice.rowAxis === null ? '' : row}</th>
                {columns.map((column, c) => (
                  <td
                    key={column}
                    class={cellClass(
                      cells.cells[r * cells.columns + c],
                      row === at.row && column === at.column,
                    )}
                  >
                    {formatElement(cells.cells[r * cells.columns + c])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function cellClass(value: number, marked: boolean): string {
  const kind = Number.isNaN(value) ? 'nan' : Number.isFinite(value) ? (value === 0 ? 'dull' : '') : 'inf';
  return marked ? `${kind} at` : kind;
}

interface PagerProps {
  name: string;
  start: number;
  shown: number;
  count: number;
  onStart: (start: number) => void;
}

function Pager({ name, start, shown, count, onStart }: PagerProps) {
  return (
    <div class="pager">
      <span class="axis-name">{name}</span>
      <IconButton
        label={`Earlier ${name}`}
        disabled={start === 0}
        onClick={() => onStart(Math.max(0, start - PAGE))}
      >
        <BackIcon />
      </IconButton>
      <span class="which">
        {start}-{start + shown - 1} of {count}
      </span>
      <IconButton
        label={`Later ${name}`}
        disabled={start + shown >= count}
        onClick={() => onStart(start + PAGE)}
      >
        <NextIcon />
      </IconButton>
    </div>
  );
}
