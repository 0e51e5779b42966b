import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { formatNumber } from '../../src/protocol/numbers';
import type { Summary } from '../../src/protocol/summary';
import type { ThemeColors } from '../ui/theme';
import { type CellWindow, edgeRuns, nonFiniteEdges } from './cells';
import { ColorBar } from './colorBar';
import type { Scale } from './colorScale';
import { Curve } from './curve';
import { Heatmap } from './heatmap';
import { axisTicks, type PictureSpace, pictureSize } from './picture';
import { axisName } from './shape';
import type { Slice, Window } from './slicing';
import { type Cell, Surface } from './surface';
import { cellPlace, cellValue } from './words';

interface PictureProps {
  window: CellWindow;
  slice: Slice;
  scale: Scale;
  theme: ThemeColors;
  space: PictureSpace;
  onZoom: (window: Window) => void;
  /** A click on a cell: the element in its corner. */
  onPick: (element: Cell) => void;
}

/** The picture with its axes, colour bar, cursor and readout. */
export function PictureView(props: PictureProps) {
  const { window: cells, slice, scale, theme, space } = props;
  const [cursor, setCursor] = useState<Cell>();
  const size =
    cells.rowCount > 1 ? pictureSize(cells.rowCount, cells.columnCount, space) : { ...space, height: 110 };
  const shown = cursor && cursor.row < cells.rows && cursor.column < cells.columns ? cursor : undefined;
  const value = shown && cells.cells[shown.row * cells.columns + shown.column];
  return (
    <div class="picture">
      <Frame cells={cells} slice={slice} size={size}>
        <Surface
          window={cells}
          size={size}
          cursor={shown}
          onCursor={setCursor}
          onZoom={props.onZoom}
          onPick={props.onPick}
        >
          {cells.rowCount > 1 ? (
            <Heatmap window={cells} scale={scale} theme={theme} size={size} />
          ) : (
            <Curve window={cells} scale={scale} />
          )}
        </Surface>
      </Frame>
      {cells.rowCount > 1 && <ColorBar scale={scale} value={value} />}
      <output class="readout">
        {shown ? (
          <>
            <span>{cellPlace(cells, slice, shown.row, shown.column)}</span>
            <b>{cellValue(value ?? Number.NaN)}</b>
          </>
        ) : (
          <span class="dull">Point at the picture to read values; drag to zoom.</span>
        )}
      </output>
    </div>
  );
}

interface FrameProps {
  cells: CellWindow;
  slice: Slice;
  size: PictureSpace;
  children: ComponentChildren;
}

function CurveLimits({ min, max }: Summary) {
  return (
    <>
      <span class="tick first">{max === null ? '' : formatNumber(max)}</span>
      <span class="tick last">{min === null || min === max ? '' : formatNumber(min)}</span>
    </>
  );
}

/** Axis names, round indices, and marks at the edge for rows and columns that hold NaN or Inf. */
function Frame({ cells, slice, size, children }: FrameProps) {
  const edges = useMemo(() => nonFiniteEdges(cells.cells, cells.rows, cells.columns), [cells]);
  const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;
  const labels = (start: number, count: number, most: number) =>
    axisTicks(start, count, most).map((tick) => ({ tick, at: percent(tick - start + 0.5, count) }));
  const rowName = slice.rowAxis === null ? '' : axisName(cells.axes, slice.rowAxis);
  const columnName = slice.columnAxis === null ? '' : axisName(cells.axes, slice.columnAxis);
  return (
    <div
      class="frame"
      style={{ '--picture-width': `${size.width}px`, '--picture-height': `${size.height}px` }}
    >
      <div class="side">
        {rowName && cells.rowCount > 1 && <span class="axis-name">← {rowName}</span>}
        {cells.rowCount === 1 && <CurveLimits {...cells.summary} />}
        {cells.rowCount > 1 &&
          labels(cells.rowStart, cells.rowCount, size.height / 26).map(({ tick, at }) => (
            <span key={tick} class="tick" style={{ top: at }}>
              {tick}
            </span>
          ))}
      </div>
      <div class="edge top">
        {edgeRuns(edges.columns).map((run) => (
          <span
            key={run.from}
            class={run.kind}
            style={{
              left: percent(run.from, cells.columns),
              width: percent(run.to - run.from, cells.columns),
            }}
          />
        ))}
      </div>
      <div class="edge left">
        {edgeRuns(cells.rowCount > 1 ? edges.rows : []).map((run) => (
          <span
            key={run.from}
            class={run.kind}
            style={{ top: percent(run.from, cells.rows), height: percent(run.to - run.from, cells.rows) }}
          />
        ))}
      </div>
      {children}
      <div class="below">
        {labels(cells.columnStart, cells.columnCount, size.width / 44).map(({ tick, at }) => (
          <span key={tick} class="tick" style={{ left: at }}>
            {tick}
          </span>
        ))}
      </div>
      {columnName && <span class="axis-name corner">{columnName} →</span>}
    </div>
  );
}
