import type { ComponentChildren } from 'preact';
import { Checkbox, type Choice, IconButton, Select } from '../ui/controls';
import { SwapIcon } from '../ui/icons';
import type { ScaleChoice } from './colorScale';
import type { OpenTensor } from './model';
import { axisName } from './shape';
import { clampIndex, freeAxes, type Slice, withAxis } from './slicing';

interface AxisProps {
  shape: readonly number[];
  axes: readonly string[];
  slice: Slice;
  /** What stands left of the axes: picture or values, and the scale. */
  children: ComponentChildren;
  onChange: (change: Partial<OpenTensor>) => void;
}

/** Which axes are drawn, and an index for each of the others. */
export function AxisControls({ shape, axes, slice, children, onChange }: AxisProps) {
  const choices = shape.map((_, axis) => ({ value: String(axis), label: axisName(axes, axis) }));
  const move = (next: Slice) => onChange({ slice: next, window: undefined, at: { row: 0, column: 0 } });
  const select = (direction: 'rowAxis' | 'columnAxis', label: string) => (
    <span class="axis-choice">
      <i>{direction === 'rowAxis' ? '↓' : '→'}</i>
      <Select
        label={label}
        value={String(slice[direction])}
        choices={choices}
        onChange={(axis) => move(withAxis(slice, direction, Number(axis)))}
      />
    </span>
  );
  return (
    <div class="axes">
      <div class="tools">{children}</div>
      {shape.length >= 2 && (
        <div class="axis-choices">
          {select('rowAxis', 'Axis drawn downwards')}
          <IconButton
            label="Swap the two axes"
            onClick={() => move({ ...slice, rowAxis: slice.columnAxis, columnAxis: slice.rowAxis })}
          >
            <SwapIcon />
          </IconButton>
          {select('columnAxis', 'Axis drawn to the right')}
        </div>
      )}
      {freeAxes(slice, shape).map((axis) => (
        <IndexControl
          key={axis}
          name={axisName(axes, axis)}
          size={shape[axis]}
          index={slice.index[axis]}
          onChange={(index) =>
            onChange({ slice: { ...slice, index: slice.index.map((old, i) => (i === axis ? index : old)) } })
          }
        />
      ))}
    </div>
  );
}

interface IndexProps {
  name: string;
  size: number;
  index: number;
  onChange: (index: number) => void;
}

function IndexControl({ name, size, index, onChange }: IndexProps) {
  const set = (event: { currentTarget: HTMLInputElement }) =>
    onChange(clampIndex(event.currentTarget.valueAsNumber, size));
  return (
    <label class="index">
      <span class="axis-name">{name}</span>
      <input
        type="range"
        min={0}
        max={size - 1}
        value={index}
        aria-label={`Index of ${name}`}
        onInput={set}
      />
      <input
        type="number"
        min={0}
        max={size - 1}
        value={index}
        aria-label={`Index of ${name}`}
        onChange={set}
      />
      <span class="of">/ {size - 1}</span>
    </label>
  );
}

const SCALES: readonly Choice<ScaleChoice>[] = [
  { value: 'auto', label: 'Auto' },
  { value: 'linear', label: 'Linear' },
  { value: 'root', label: 'Square root' },
  { value: 'log', label: 'Log of |x|' },
];

interface ScaleProps {
  value: ScaleChoice;
  onChange: (scale: ScaleChoice) => void;
}

export function ScaleSelect({ value, onChange }: ScaleProps) {
  return <Select label="Colour scale" value={value} choices={SCALES} onChange={onChange} />;
}

interface RangeProps {
  wholeRange: boolean;
  zoomed: boolean;
  /** False when the window is the tensor. */
  hasWholeRange: boolean;
  onChange: (change: Partial<OpenTensor>) => void;
}

/** Which range the colours span, and the way out of a zoom; nothing where neither applies. */
export function RangeControls({ wholeRange, zoomed, hasWholeRange, onChange }: RangeProps) {
  if (!hasWholeRange && !zoomed) return null;
  return (
    <div class="range-controls">
      {hasWholeRange && (
        <Checkbox checked={wholeRange} onChange={(on) => onChange({ wholeRange: on })}>
          Colours span the whole tensor
        </Checkbox>
      )}
      {zoomed && (
        <button type="button" class="link" onClick={() => onChange({ window: undefined })}>
          Show the whole plane
        </button>
      )}
    </div>
  );
}
