/** The cells of a `mamba/tensorData` reply: decoding, and which elements a cell stands for. No DOM. */
import type { TensorDataResponse } from '../../src/protocol/requests';

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Little-endian float32 from base64. Throws when the text does not hold `count` cells. */
export function decodeCells(base64: string, count: number): Float32Array {
  const binary = atob(base64);
  if (binary.length !== count * 4) {
    throw new Error(`The reply holds ${binary.length} bytes where ${count} cells need ${count * 4}.`);
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  if (LITTLE_ENDIAN) return new Float32Array(bytes.buffer);
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: count }, (_, i) => view.getFloat32(i * 4, true));
}

/** A reply with its cells decoded. */
export interface CellWindow extends Omit<TensorDataResponse, 'data'> {
  cells: Float32Array;
}

export function decodeResponse({ data, ...rest }: TensorDataResponse): CellWindow {
  return { ...rest, cells: decodeCells(data, rest.rows * rest.columns) };
}

/** The elements `[first, last]` along one axis that cell `cell` of `cells` covers. */
export function cellSpan(cell: number, cells: number, start: number, count: number): [number, number] {
  const first = start + Math.floor((cell * count) / cells);
  const next = start + Math.floor(((cell + 1) * count) / cells);
  return [first, Math.max(first, next - 1)];
}

/** The cell that element `element` lies in. */
export function cellOf(element: number, cells: number, start: number, count: number): number {
  const cell = Math.ceil(((element - start + 1) * cells) / count) - 1;
  return Math.min(cells - 1, Math.max(0, cell));
}

/** How many elements one cell covers at most, down and to the right. */
export function reduction(
  window: Pick<TensorDataResponse, 'rows' | 'columns' | 'rowCount' | 'columnCount'>,
): {
  down: number;
  right: number;
} {
  return {
    down: Math.ceil(window.rowCount / Math.max(1, window.rows)),
    right: Math.ceil(window.columnCount / Math.max(1, window.columns)),
  };
}

/** Which rows and columns hold a cell that is not finite: marked at the picture's edge, where one dot is seen. */
export function nonFiniteEdges(
  cells: Float32Array,
  rows: number,
  columns: number,
): {
  rows: ('nan' | 'inf' | undefined)[];
  columns: ('nan' | 'inf' | undefined)[];
} {
  const down = new Array<'nan' | 'inf' | undefined>(rows).fill(undefined);
  const right = new Array<'nan' | 'inf' | undefined>(columns).fill(undefined);
  for (let i = 0; i < cells.length; i++) {
    if (Number.isFinite(cells[i])) continue;
    const kind = Number.isNaN(cells[i]) ? 'nan' : 'inf';
    const row = Math.floor(i / columns);
    const column = i % columns;
    if (down[row] !== 'nan') down[row] = kind;
    if (right[column] !== 'nan') right[column] = kind;
  }
  return { rows: down, columns: right };
}

/** Neighbouring marks of one kind, taken together. */
export interface EdgeRun {
  kind: 'nan' | 'inf';
  from: number;
  /** Exclusive. */
  to: number;
}

export function edgeRuns(edge: readonly ('nan' | 'inf' | undefined)[]): EdgeRun[] {
  const runs: EdgeRun[] = [];
  edge.forEach((kind, i) => {
    const last = runs.at(-1);
    if (!kind) return;
    if (last?.kind === kind && last.to === i) last.to = i + 1;
    else runs.push({ kind, from: i, to: i + 1 });
  });
  return runs;
}
