import type { PanelCommand } from '../../src/protocol/webview';
import { Button } from '../ui/controls';

interface EmptyProps {
  onCommand: (command: PanelCommand) => void;
}

/** Nothing runs: what would fill the panel, and the two shortest ways to it. */
export function NoSession({ onCommand }: EmptyProps) {
  return (
    <div class="empty">
      <ScanPicture />
      <p>
        When a Mamba model stops, its tensors appear here: one line each, with shape, distribution and
        whatever is not finite.
      </p>
      <Button onClick={() => onCommand('debugExample')}>Debug the Example</Button>
      <Button secondary onClick={() => onCommand('addScanBreakpoint')}>
        Add Scan Breakpoint
      </Button>
    </div>
  );
}

/** It runs and has not stopped yet. */
export function Running({ target, onCommand }: EmptyProps & { target?: string }) {
  return (
    <div class="empty">
      <ScanPicture moving />
      <p>
        {target ?? 'The program'} is running. Its tensors appear at the next stop; a scan breakpoint or Pause
        makes one.
      </p>
      <Button secondary onClick={() => onCommand('addScanBreakpoint')}>
        Add Scan Breakpoint
      </Button>
    </div>
  );
}

/** A grid that a scan line crosses, as the view's icon has it. */
function ScanPicture({ moving }: { moving?: boolean }) {
  const cells = Array.from({ length: 24 }, (_, i) => ({ x: i % 6, y: Math.floor(i / 6) }));
  return (
    <svg
      class={`scan-picture${moving ? ' moving' : ''}`}
      viewBox="0 0 66 44"
      width="66"
      height="44"
      aria-hidden="true"
    >
      {cells.map(({ x, y }) => (
        <rect
          key={`${x} ${y}`}
          x={x * 11 + 1}
          y={y * 11 + 1}
          width="9"
          height="9"
          rx="1.5"
          opacity={0.25 + 0.5 * Math.abs(Math.sin(3 + x * 2.3 + y * 1.7))}
        />
      ))}
      <line x1="33" x2="33" y1="0" y2="44" />
    </svg>
  );
}
