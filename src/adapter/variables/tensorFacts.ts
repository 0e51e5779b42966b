import type { DebugProtocol } from '@vscode/debugprotocol';
import { formatBytes, formatCount, formatElement, formatShare } from '../../protocol/numbers';
import { type Summary, sparkline } from '../../protocol/summary';
import type { Container } from './variable';

/** Bytes of an element as the tensor is held. */
const ELEMENT = 4;

/** Shape, strides, dtype and where the tensor lives. */
export function layoutRows(s: Summary, axes: readonly string[]): DebugProtocol.Variable[] {
  const shape = s.shape.map((size, axis) => (axes[axis] ? `${axes[axis]} ${size}` : String(size))).join(', ');
  return [
    row('shape', `[${shape}]`),
    row('strides', `(${s.strides.join(', ')})${s.contiguous ? '' : ', not contiguous'}`),
    row('dtype', s.dtype),
    row('device', s.device),
    row('elements', `${formatCount(s.numel)}, ${formatBytes(s.numel * ELEMENT)}`),
  ];
}

/** The statistics of a tensor, a row each. */
export class StatisticsContainer implements Container {
  readonly key: string;

  constructor(
    path: string,
    private readonly summary: Summary,
  ) {
    this.key = `statistics/${path}`;
  }

  async children(): Promise<DebugProtocol.Variable[]> {
    const s = this.summary;
    const number = (x: number | null) => (x === null ? 'none is finite' : formatElement(x));
    return [
      row('min', number(s.min)),
      row('max', number(s.max)),
      row('mean', number(s.mean)),
      row('std', number(s.std)),
      row('absmax', number(s.absmax)),
      row('zeros', formatShare(s.zeros, s.numel, 'zero')),
      row('NaN', formatShare(s.nan, s.numel, 'NaN')),
      row('Inf', formatShare(s.posInf + s.negInf, s.numel, 'Inf')),
      row('histogram', `${sparkline(s.histogram, 32)} (${s.histogram.length} bins from min to max)`),
    ];
  }
}

function row(name: string, value: string): DebugProtocol.Variable {
  return { name, value, variablesReference: 0, presentationHint: { attributes: ['readOnly'] } };
}
