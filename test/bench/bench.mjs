/**
 * The figures of the embedded target: those of `scanpoint bench` with eager PyTorch as the peer in the same run, and
 * those of whole sessions with the built adapter. Run with `npm run bench`; arguments go to `scanpoint bench`.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { ensurePython } from '../setup/python.mjs';
import { DapClient, median } from './client.mjs';

const ROUNDS = 5;

const TINY = {
  model: 'vim_tiny_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2',
  input: 'examples/photo.jpg',
};

const print = (what, text) => console.log(`${what.padEnd(62)} ${text}`);

/** One session up to the end of the run, or to the first stop. */
async function session(launch, breakpoints, filters = []) {
  const client = new DapClient(process.execPath, ['dist/adapter.js']);
  const times = { start: performance.now() };
  await client.request('initialize', { adapterID: 'mamba' });
  await client.request('launch', launch);
  await client.event('initialized');
  times.loaded = performance.now();
  await client.request('setFunctionBreakpoints', { breakpoints });
  await client.request('setExceptionBreakpoints', { filters });
  times.run = performance.now();
  await client.request('configurationDone');
  return { client, times };
}

async function forward(breakpoints, filters) {
  const { client, times } = await session(TINY, breakpoints, filters);
  await client.event('terminated');
  const seconds = (performance.now() - times.run) / 1000;
  await client.dispose();
  return seconds;
}

async function firstStop() {
  const { client, times } = await session(TINY, [{ name: 'selective_scan' }], ['nan', 'inf']);
  await client.event('stopped');
  const seconds = (performance.now() - times.start) / 1000;
  const { stackFrames } = await client.request('stackTrace', { threadId: 1 });
  const { scopes } = await client.request('scopes', { frameId: stackFrames[0].id });
  const before = performance.now();
  await client.request('variables', { variablesReference: scopes[0].variablesReference });
  const variables = performance.now() - before;
  await client.dispose();
  return { seconds, variables };
}

const never = [{ name: 'selective_scan', condition: 'delta.max() > 1e30' }];
const runs = { plain: [], filters: [], condition: [], stop: [], variables: [] };
const python = await ensurePython();
spawnSync(process.execPath, ['dist/cli.js', 'bench', '--python', python, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
for (let round = 0; round < ROUNDS; round++) {
  runs.plain.push(await forward([], []));
  runs.filters.push(await forward([], ['nan', 'inf']));
  runs.condition.push(await forward(never, []));
  const { seconds, variables } = await firstStop();
  runs.stop.push(seconds);
  runs.variables.push(variables);
}
const plain = median(runs.plain);
print('Vim-tiny forward under the debugger, first run, no breakpoint', `${plain.toFixed(2)} s`);
print('the same with the NaN and Inf filters', `${(median(runs.filters) / plain).toFixed(2)} x`);
print(
  'the same with a condition at every scan that never holds',
  `${(median(runs.condition) / plain).toFixed(2)} x`,
);
print('adapter start to the first scan stop', `${median(runs.stop).toFixed(2)} s`);
print('variables reply at the scan', `${median(runs.variables).toFixed(1)} ms`);
print('package', `${(statSync('scanpoint.vsix').size / 1e6).toFixed(2)} MB`);
