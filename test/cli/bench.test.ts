import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

function bench(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/cli.js', 'bench', ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const QUICK = ['--rounds', '1', '--seconds', '0.001', '--python', 'no-such-python'];

describe('scanpoint bench', () => {
  it('measures without PyTorch too, and says that it is missing', () => {
    const { status, stdout } = bench('--only', 'product,scan', ...QUICK);
    expect(status).toBe(0);
    expect(stdout).toContain('without PyTorch: no-such-python cannot import it');
    const share = /in_proj \(768 x 192 x 197\): ([\d.]+) %/.exec(stdout);
    expect(Number(share?.[1])).toBeGreaterThan(1);
    expect(stdout).toMatch(/scan forward \(1, 384, 197, 16\), 1 thread: [\d.]+ ms/);
    expect(stdout).toMatch(/scan backward .*: [\d.]+ ms/);
  });

  it('measures what the debugger costs', () => {
    const { status, stdout } = bench('--only', 'debugger', ...QUICK);
    expect(status).toBe(0);
    expect(stdout).toMatch(/with a condition at every scan that never holds: [\d.]+ x/);
  });

  it.each([
    [['--only', 'everything'], '--only knows product, scan'],
    [['--rounds', 'few'], '--rounds takes a whole number from 1, not "few".'],
    [['--seconds', '0'], '--seconds takes a number above 0'],
    [['vim'], 'takes no model'],
    [['--fast'], "Unknown option '--fast'"],
  ])('refuses %j', (args, message) => {
    const { status, stderr } = bench(...args);
    expect(status).toBe(1);
    expect(stderr).toContain(message);
  });
});
