import { spawnSync } from 'node:child_process';
import { formatBytes } from '../../protocol/numbers';
import { type Context, VIM_TINY } from './context';

/** The most memory that a whole run took, as the system counted it for a process of its own. */
export async function* memoryFigures(c: Context): AsyncGenerator<string> {
  for (const [name, flags] of [
    ['forward', []],
    ['forward and backward', ['--backward', '--label', '1']],
  ] as const) {
    const peaks = (c.cores === 1 ? [1] : [1, c.cores]).map((threads) => {
      const args = [`${c.dist}/cli.js`, 'run', VIM_TINY, '--json', '--threads', String(threads), ...flags];
      const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
      return `${formatBytes(JSON.parse(stdout).peakMemory)} with ${threads} thread${threads > 1 ? 's' : ''}`;
    });
    yield `peak memory of a process, Vim-tiny ${name}: ${peaks.join(', ')}`;
  }
}
