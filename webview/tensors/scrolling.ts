/** Which lines of a long list have to be drawn. No DOM. */

/** Where each line begins; the last number is the height of all. */
export function offsetsOf(heights: readonly number[]): number[] {
  const offsets = [0];
  for (const height of heights) offsets.push(offsets[offsets.length - 1] + height);
  return offsets;
}

/** The lines `from` .. `to - 1` that touch the viewport, and a few more on both sides. */
export function visibleLines(
  offsets: readonly number[],
  top: number,
  height: number,
  extra = 6,
): { from: number; to: number } {
  const count = offsets.length - 1;
  const first = lastAtOrBefore(offsets, top);
  const last = lastAtOrBefore(offsets, top + height);
  return { from: Math.max(0, first - extra), to: Math.min(count, last + 1 + extra) };
}

function lastAtOrBefore(offsets: readonly number[], position: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsets[middle] <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The scroll position that brings a line into view with the least movement. */
export function scrollToShow(offsets: readonly number[], line: number, top: number, height: number): number {
  const start = offsets[line];
  const end = offsets[line + 1];
  if (start < top) return start;
  return end > top + height ? end - height : top;
}
