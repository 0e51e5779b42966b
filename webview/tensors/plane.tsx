import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { TensorEntry } from '../../src/protocol/requests';
import { Spinner } from '../ui/controls';
import { type Size, useLasting, useSize } from '../ui/hooks';
import { useTheme } from '../ui/theme';
import { Failure } from './app';
import { AxisControls, RangeControls, ScaleSelect } from './axisControls';
import type { CellWindow } from './cells';
import { makeScale, type Scale, smallestMagnitude } from './colorScale';
import { type TensorData, useWindow } from './data';
import type { OpenTensor } from './model';
import { PictureView } from './pictureView';
import {
  fitSlice,
  fitWindow,
  isWhole,
  pageWindow,
  pictureArguments,
  type Slice,
  valuesArguments,
} from './slicing';
import { ValueGrid } from './valueGrid';
import { cellValue, emptyWords, pictureWords } from './words';

interface PlaneProps {
  entry: TensorEntry;
  stop: number;
  running: boolean;
  open: OpenTensor;
  data: TensorData;
  modes: ComponentChildren;
  onChange: (change: Partial<OpenTensor>) => void;
}

/** Room beside the picture for row numbers, and the view's own margin. */
const GUTTER = 46;
const MARGIN = 12;

/** A plane of the tensor: which one, its picture or its numbers, and what is to be seen in words. */
export function Plane(props: PlaneProps) {
  const { entry, onChange } = props;
  const [ref, size] = useSize<HTMLDivElement>();
  const { fetched, slice, shape } = usePlane(props, size);
  const slow = useLasting(fetched.loading);
  if (shape?.includes(0)) return <p class="words">{emptyWords(shape, entry.axes)}</p>;
  return (
    <div class="plane" ref={ref}>
      {shape && shape.length > 0 && (
        <AxisControls shape={shape} axes={entry.axes} slice={slice} onChange={onChange}>
          {props.modes}
          {props.open.mode === 'picture' && (
            <ScaleSelect value={props.open.scale} onChange={(scale) => onChange({ scale })} />
          )}
        </AxisControls>
      )}
      {fetched.error && <Failure message={fetched.error} onRetry={fetched.retry} />}
      {!fetched.error && !fetched.window && slow && <Spinner label="Reading the values" />}
      {!fetched.error && fetched.window && shape && size.width > 0 && (
        <div class={slow ? 'drawn waiting' : 'drawn'}>
          <Drawn {...props} window={fetched.window} slice={slice} shape={shape} size={size} />
        </div>
      )}
    </div>
  );
}

/** Fits what was kept to the tensor's shape and asks for the window. */
function usePlane({ entry, stop, running, open, data }: PlaneProps, size: Size) {
  const known = entry.summary?.shape;
  const tensor = { id: entry.id, stop };
  const slice = fitSlice(open.slice, known ?? []);
  const part = known && fitWindow(open.window, slice, known);
  const cells = { rows: pictureHeight(), columns: size.width - GUTTER - MARGIN };
  // The target tells the shape of what was not summarised with the first window.
  const args = !part
    ? { ...tensor, maxRows: 128, maxColumns: 128 }
    : open.mode === 'picture'
      ? pictureArguments(tensor, slice, part, cells)
      : valuesArguments(tensor, slice, pageWindow(open.at.row, open.at.column, slice, known));
  const wanted = !running && size.width > 0 && !known?.includes(0);
  const fetched = useWindow(data, wanted ? args : undefined, open.mode);
  const shape = known ?? fetched.window?.shape;
  return { fetched, shape, slice: shape ? fitSlice(open.slice, shape) : slice };
}

function pictureHeight(): number {
  return Math.min(520, Math.max(160, Math.round(window.innerHeight * 0.5)));
}

interface DrawnProps extends PlaneProps {
  window: CellWindow;
  slice: Slice;
  shape: number[];
  size: Size;
}

function Drawn({ entry, open, window: cells, slice, shape, size, onChange }: DrawnProps) {
  const theme = useTheme();
  const scale = useMemo(
    () => scaleFor(open, entry, cells, theme),
    [open.scale, open.wholeRange, entry, cells, theme],
  );
  if (shape.length === 0 || (cells.summary.numel === 1 && shape.every((n) => n === 1))) {
    return <output class="scalar">{cellValue(cells.cells[0])}</output>;
  }
  if (open.mode === 'values') {
    return (
      <ValueGrid window={cells} slice={slice} shape={shape} at={open.at} onMove={(at) => onChange({ at })} />
    );
  }
  return (
    <>
      <PictureView
        window={cells}
        slice={slice}
        scale={scale}
        theme={theme}
        space={{ width: size.width - GUTTER - MARGIN, height: pictureHeight() }}
        onZoom={(part) => onChange({ window: part })}
        onPick={(at) => onChange({ at, mode: 'values' })}
      />
      <RangeControls
        wholeRange={open.wholeRange}
        zoomed={!isWhole(cells, slice, shape)}
        hasWholeRange={entry.summary !== null && cells.summary.numel < entry.summary.numel}
        onChange={onChange}
      />
      <p class="words">{pictureWords(cells, cells.rowCount > 1 ? scale.curve : 'linear')}</p>
    </>
  );
}

function scaleFor(
  open: OpenTensor,
  entry: TensorEntry,
  cells: CellWindow,
  palette: Parameters<typeof makeScale>[3],
): Scale {
  const range = open.wholeRange && entry.summary ? entry.summary : cells.summary;
  return makeScale(open.scale, range, smallestMagnitude(cells.cells), palette);
}
