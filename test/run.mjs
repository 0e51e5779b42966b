/** All suites: sets up what they need, builds, runs them, and ends with one line of counts. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePython } from './setup/python.mjs';
import { ensureVSCode } from './setup/vscode.mjs';

const reports = mkdtempSync(join(tmpdir(), 'scanpoint-reports-'));
let passed = 0;
let failed = 0;

/** Runs a command with its output shown; gives whether it succeeded. */
function run(command, args, env = {}) {
  console.log(`\n> ${command} ${args.join(' ')}`);
  return spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } }).status === 0;
}

/** A step that counts as one test. */
function check(command, args) {
  if (run(command, args)) passed++;
  else failed++;
}

/** A step without which the rest makes no sense. */
function mustRun(command, args) {
  if (run(command, args)) return;
  console.log(`\n${passed} passed, ${failed + 1} failed`);
  process.exit(1);
}

mustRun('bash', ['test/setup/system-packages.sh']);
check('npx', ['biome', 'ci']);
check('npx', ['tsc', '--noEmit']);
mustRun('npm', ['run', '--silent', 'package']);
const python = await ensurePython();
await ensureVSCode();

const unit = join(reports, 'vitest.json');
const vitestOk = run(
  'npx',
  ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${unit}`],
  { SCANPOINT_PYTHON: python },
);
const vitest = JSON.parse(readFileSync(unit, 'utf8'));
passed += vitest.numPassedTests;
// A suite that fails to load has no failed test of its own.
failed += Math.max(vitest.numFailedTests, vitestOk ? 0 : 1);

check(python, ['-m', 'ruff', 'check']);
check(python, ['-m', 'ruff', 'format', '--check']);
const junit = join(reports, 'pytest.xml');
const pytestOk = run(python, [
  '-m',
  'pytest',
  '-q',
  'test/python',
  'test/agent',
  `--junitxml=${junit}`,
  '-p',
  'no:cacheprovider',
]);
const counts = Object.fromEntries(
  [...readFileSync(junit, 'utf8').matchAll(/(tests|failures|errors)="(\d+)"/g)].map((m) => [
    m[1],
    Number(m[2]),
  ]),
);
passed += counts.tests - counts.failures - counts.errors;
failed += Math.max(counts.failures + counts.errors, pytestOk ? 0 : 1);

console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
