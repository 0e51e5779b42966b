import { useLayoutEffect, useRef } from 'preact/hooks';
import { formatNumber } from '../../src/protocol/numbers';
import { type Scale, TABLE_SIZE } from './colorScale';

/** The scale as a bar with numbers; a mark shows where the value under the cursor lies. */
export function ColorBar({ scale, value }: { scale: Scale; value?: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) return;
    const image = context.createImageData(TABLE_SIZE, 1);
    for (let i = 0; i < TABLE_SIZE; i++)
      image.data.set([...scale.table.subarray(3 * i, 3 * i + 3), 255], 4 * i);
    context.putImageData(image, 0, 0);
  }, [scale]);
  const mark = value !== undefined && Number.isFinite(value) ? scale.position(value) : undefined;
  return (
    <div class="color-bar">
      <div class="strip">
        <canvas ref={canvas} width={TABLE_SIZE} height={1} />
        {mark !== undefined && <span class="here" style={{ left: `${100 * mark}%` }} />}
      </div>
      <div class="numbers">
        {scale.ticks.map((tick) => (
          <span key={tick.at} class={tick.at === 0 ? 'start' : tick.at === 1 ? 'end' : 'middle'}>
            {formatNumber(tick.value)}
          </span>
        ))}
      </div>
      <span class="swatch nan">NaN</span>
      <span class="swatch inf">Inf</span>
    </div>
  );
}
