/** What the benches of both targets share: the tests' DAP client, built, and the median. */
import { build } from 'esbuild';

await build({
  entryPoints: ['test/dap/client.ts'],
  bundle: true,
  platform: 'node',
  format: 'esm',
  outfile: 'out/client.mjs',
  logLevel: 'error',
});
export const { DapClient } = await import('../../out/client.mjs');

export const median = (xs) => [...xs].sort((a, b) => a - b)[Math.floor(xs.length / 2)];
