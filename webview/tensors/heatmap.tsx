import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ThemeColors } from '../ui/theme';
import type { CellWindow } from './cells';
import type { Scale } from './colorScale';
import type { PictureSpace } from './picture';
import { rasterize } from './raster';

interface HeatmapProps {
  window: CellWindow;
  scale: Scale;
  theme: ThemeColors;
  /** In CSS pixels. */
  size: PictureSpace;
}

/** The cells as colours, sharp on every screen. */
export function Heatmap({ window: cells, scale, theme, size }: HeatmapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(size.width * ratio));
  const height = Math.max(1, Math.round(size.height * ratio));
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) return;
    const pixels = rasterize(cells.cells, cells.rows, cells.columns, { width, height, ratio }, scale, theme);
    context.putImageData(new ImageData(pixels, width, height), 0, 0);
  }, [cells, scale, theme, width, height, ratio]);
  return (
    <canvas
      ref={canvas}
      width={width}
      height={height}
      style={{ width: `${size.width}px`, height: `${size.height}px` }}
    />
  );
}
