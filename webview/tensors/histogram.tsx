import { formatCount, formatNumber } from '../../src/protocol/numbers';
import { nonFinite, type Summary } from '../../src/protocol/summary';
import { barsOf, zeroPosition } from './bars';

/** The distribution as tiny bars, with a patterned end piece when not everything is finite. */
export function Sparkline({ summary }: { summary: Summary | null }) {
  const bars = summary ? barsOf(summary, 14) : [];
  const bad = summary ? nonFinite(summary) : 0;
  if (!summary || (bars.length === 0 && bad === 0 && summary.numel <= 1)) return <span class="spark" />;
  return (
    <span class="spark">
      <svg viewBox={`0 0 ${bars.length || 1} 1`} preserveAspectRatio="none" aria-hidden="true">
        {bars.length === 0 && summary.min !== null && (
          <rect class="flat" x="0" y="0.44" width="1" height="0.12" />
        )}
        {bars.map((bar, i) => (
          <rect key={i} class={bar.sign} x={i + 0.08} y={1 - bar.height} width="0.84" height={bar.height} />
        ))}
      </svg>
      {bad > 0 && <span class={`spark-end ${summary.nan > 0 ? 'nan' : 'inf'}`} />}
    </span>
  );
}

/** The same as a picture of its own: limits, zero line, counts on hover. */
export function Histogram({ summary }: { summary: Summary }) {
  const bars = barsOf(summary, 64);
  if (bars.length === 0 || summary.min === null || summary.max === null) return null;
  const zero = zeroPosition(summary);
  return (
    <figure class="histogram">
      <div class="plot">
        <svg viewBox={`0 0 ${bars.length} 1`} preserveAspectRatio="none" role="img" aria-label="Histogram">
          {bars.map((bar, i) => (
            <g key={i}>
              <rect class={bar.sign} x={i + 0.06} y={1 - bar.height} width="0.88" height={bar.height} />
              <rect class="hit" x={i} y="0" width="1" height="1">
                <title>{`${formatCount(bar.count)} in [${formatNumber(bar.from)}, ${formatNumber(bar.to)}]`}</title>
              </rect>
            </g>
          ))}
        </svg>
        {zero !== undefined && <span class="zero" style={{ left: `${100 * zero}%` }} />}
      </div>
      <figcaption>
        <span>{formatNumber(summary.min)}</span>
        {zero !== undefined && zero > 0.12 && zero < 0.88 && (
          <span class="zero-label" style={{ left: `${100 * zero}%` }}>
            0
          </span>
        )}
        <span>{formatNumber(summary.max)}</span>
      </figcaption>
    </figure>
  );
}
