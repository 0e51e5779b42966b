/** How numbers are written everywhere: three significant digits, scientific outside 1e-4 .. 1e4. */
export function formatNumber(x: number): string {
  if (Number.isNaN(x)) return 'NaN';
  if (x === Infinity) return 'Inf';
  if (x === -Infinity) return '-Inf';
  if (x === 0) return '0';
  const magnitude = Math.abs(x);
  if (Number.isInteger(x) && magnitude < 1e4) return String(x);
  if (magnitude < 1e-4 || magnitude >= 1e4)
    return x
      .toExponential(2)
      .replace(/\.?0+e/, 'e')
      .replace('e+', 'e');
  return String(Number(x.toPrecision(3)));
}

/** A value in full float32 precision, for grids and single elements. */
export function formatElement(x: number): string {
  const magnitude = Math.abs(x);
  if (!Number.isFinite(x) || x === 0) return formatNumber(x);
  if (Number.isInteger(x) && magnitude < 1e9) return String(x);
  const text = magnitude < 1e-4 || magnitude >= 1e4 ? x.toExponential(7) : x.toPrecision(8);
  return text.includes('e') ? text.replace(/\.?0+e/, 'e').replace('e+', 'e') : text.replace(/\.?0+$/, '');
}

/** A count with thousands separators: 75648 -> "75,648". */
export function formatCount(n: number): string {
  return n.toLocaleString('en-US');
}

/** A count with its share: "12 NaN, 0.02 %". */
export function formatShare(count: number, total: number, what: string): string {
  const share = total > 0 ? (100 * count) / total : 0;
  return `${formatCount(count)} ${what}, ${formatNumber(share)} %`;
}

/** Bytes in the unit that keeps the number short: "1.5 MB". */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${formatNumber(value)} ${units[unit]}`;
}
