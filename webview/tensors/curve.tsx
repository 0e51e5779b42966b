import { type CellWindow, edgeRuns, nonFiniteEdges } from './cells';
import type { Scale } from './colorScale';
import { curvePath } from './picture';

/** A single row as a curve over its axis; where it is not finite the ground is patterned. */
export function Curve({ window: cells, scale }: { window: CellWindow; scale: Scale }) {
  const { min, max } = cells.summary;
  const flat = min === max;
  const from = flat ? (min ?? 0) - 1 : Math.min(min ?? 0, scale.kind === 'diverging' ? 0 : Infinity);
  const to = flat ? (max ?? 0) + 1 : Math.max(max ?? 0, scale.kind === 'diverging' ? 0 : -Infinity);
  const percent = (part: number) => `${(100 * part) / cells.columns}%`;
  const zero = from < 0 && to > 0 ? to / (to - from) : undefined;
  return (
    <div class="curve">
      {edgeRuns(nonFiniteEdges(cells.cells, 1, cells.columns).columns).map((run) => (
        <span
          key={run.from}
          class={run.kind}
          style={{ left: percent(run.from), width: percent(run.to - run.from) }}
        />
      ))}
      {zero !== undefined && <span class="zero" style={{ top: `${100 * zero}%` }} />}
      <svg viewBox={`0 -0.04 ${cells.columns} 1.08`} preserveAspectRatio="none" aria-hidden="true">
        <path d={curvePath(cells.cells, from, to)} vector-effect="non-scaling-stroke" />
      </svg>
    </div>
  );
}
