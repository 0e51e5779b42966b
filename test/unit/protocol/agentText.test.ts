import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatElement,
  formatNumber,
  formatShare,
} from '../../../src/protocol/numbers';
import { formatSummary, type Summary, sparkline } from '../../../src/protocol/summary';

interface Fixture {
  number: [number, string][];
  element: [number, string][];
  count: [number, string][];
  share: [number, number, string][];
  bytes: [number, string][];
  sparkline: [number[], string][];
  summary: [Summary, string][];
}

const path = join(__dirname, '../../agent/fixtures/values_text.json');
const fixture = JSON.parse(readFileSync(path, 'utf8')) as Fixture;

// The agent's own formatter is tested against the same fixture.
test('the fixture of the agent is what these formatters write', () => {
  for (const [x, text] of fixture.number) expect(formatNumber(x)).toBe(text);
  for (const [x, text] of fixture.element) expect(formatElement(x)).toBe(text);
  for (const [n, text] of fixture.count) expect(formatCount(n)).toBe(text);
  for (const [n, of, text] of fixture.share) expect(formatShare(n, of, 'NaN')).toBe(text);
  for (const [n, text] of fixture.bytes) expect(formatBytes(n)).toBe(text);
  for (const [bins, text] of fixture.sparkline) expect(sparkline(bins)).toBe(text);
  for (const [summary, text] of fixture.summary) expect(formatSummary(summary)).toBe(text);
});
