/** The plain words under a picture and the readout of a cell. No DOM. */
import { formatCount, formatElement, formatNumber } from '../../src/protocol/numbers';
import type { TensorDataResponse } from '../../src/protocol/requests';
import type { Summary } from '../../src/protocol/summary';
import { cellSpan, reduction } from './cells';
import type { Scale } from './colorScale';
import { axisName } from './shape';
import type { Slice } from './slicing';

type Plane = Omit<TensorDataResponse, 'data'>;

/** `75,648 values, [9.8e-4, 0.42]; 12 NaN; each cell shows the largest of 2 × 1 values` */
export function pictureWords(plane: Plane, curve: Scale['curve'] = 'linear'): string {
  const parts = [
    `${formatCount(plane.summary.numel)} ${plural(plane.summary.numel, 'value')}${range(plane.summary)}`,
  ];
  parts.push(...counts(plane.summary));
  if (plane.reduced) {
    const { down, right } = reduction(plane);
    const even = plane.rowCount % plane.rows === 0 && plane.columnCount % plane.columns === 0;
    parts.push(`each cell shows the largest of ${even ? '' : 'up to '}${down} × ${right} values`);
  }
  if (curve === 'root') parts.push('colours follow the square root');
  if (curve === 'log') parts.push('colours follow the logarithm of the magnitude');
  return `${parts.join('; ')}.`;
}

function range({ min, max, numel, nan, posInf, negInf }: Summary): string {
  if (numel === 0) return '';
  if (min === null || max === null) return ', none of them finite';
  const finite = nan + posInf + negInf === 0;
  if (min === max)
    return numel === 1
      ? `: ${formatElement(min)}`
      : `, ${finite ? 'all' : 'the finite ones all'} ${formatNumber(min)}`;
  return `, [${formatNumber(min)}, ${formatNumber(max)}]`;
}

function counts({ nan, posInf, negInf }: Summary): string[] {
  const found: string[] = [];
  if (nan > 0) found.push(`${formatCount(nan)} NaN`);
  if (posInf > 0) found.push(`${formatCount(posInf)} +Inf`);
  if (negInf > 0) found.push(`${formatCount(negInf)} -Inf`);
  return found;
}

function plural(count: number, word: string): string {
  return count === 1 ? word : `${word}s`;
}

/** Where a cell lies, by axis: `B 0 · D 12-13 · L 57`. */
export function cellPlace(plane: Plane, slice: Slice, row: number, column: number): string {
  return plane.shape
    .map((_, axis) => {
      const name = axisName(plane.axes, axis);
      if (axis === slice.columnAxis) {
        return `${name} ${span(cellSpan(column, plane.columns, plane.columnStart, plane.columnCount))}`;
      }
      if (axis === slice.rowAxis) {
        return `${name} ${span(cellSpan(row, plane.rows, plane.rowStart, plane.rowCount))}`;
      }
      return `${name} ${slice.index[axis] ?? 0}`;
    })
    .join(' · ');
}

function span([first, last]: [number, number]): string {
  return first === last ? String(first) : `${first}-${last}`;
}

/** The value of a cell in full precision. */
export function cellValue(value: number): string {
  return formatElement(value);
}

/** Why there is nothing to draw: the axes without an index. */
export function emptyWords(shape: readonly number[], axes: readonly string[]): string {
  const names = shape.flatMap((size, axis) => (size === 0 ? [axisName(axes, axis)] : []));
  const which = names.length === 1 ? `its axis ${names[0]} has` : `its axes ${names.join(', ')} have`;
  return `This tensor is empty: ${which.replace('axis axis', 'axis')} size 0.`;
}
