/**
 * The figures of the embedded target, measured on the built adapter, with eager PyTorch (the example's plain Vim)
 * as the peer in the same run. Run with `npm run bench`.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { build } from 'esbuild';
import { ensurePython } from '../setup/python.mjs';

const ROUNDS = 5;
await build({
  entryPoints: ['test/dap/client.ts'],
  bundle: true,
  platform: 'node',
  format: 'esm',
  outfile: 'out/client.mjs',
  logLevel: 'error',
});
const { DapClient } = await import('../../out/client.mjs');

const TINY = {
  model: 'vim_tiny_patch16_224_bimambav2_final_pool_mean_abs_pos_embed_with_midclstok_div2',
  input: 'examples/photo.jpg',
};

const median = (xs) => [...xs].sort((a, b) => a - b)[Math.floor(xs.length / 2)];
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

/** Seconds of one forward pass of Vim-tiny in eager PyTorch, with the threads that suit it best. */
function peer(python) {
  const script = `
import sys, time, torch
sys.path.insert(0, 'examples')
from vim_pytorch import VisionMamba
model = VisionMamba(img_size=224, patch_size=16, stride=16, depth=24, embed_dim=192, bimamba_type='v2', final_pool_type='mean').eval()
x = torch.randn(1, 3, 224, 224)
best = 1e9
for threads in (1, 2):
    torch.set_num_threads(threads)
    with torch.no_grad():
        for _ in range(3):
            start = time.perf_counter(); model(x); best = min(best, time.perf_counter() - start)
print(best)`;
  return Number(spawnSync(python, ['-c', script], { encoding: 'utf8' }).stdout);
}

const never = [{ name: 'selective_scan', condition: 'delta.max() > 1e30' }];
const runs = { plain: [], filters: [], condition: [], torch: [], stop: [], variables: [] };
const python = await ensurePython();
for (let round = 0; round < ROUNDS; round++) {
  runs.plain.push(await forward([], []));
  runs.filters.push(await forward([], ['nan', 'inf']));
  runs.condition.push(await forward(never, []));
  runs.torch.push(peer(python));
  const { seconds, variables } = await firstStop();
  runs.stop.push(seconds);
  runs.variables.push(variables);
}
const [plain, torch] = [median(runs.plain), median(runs.torch)];
print(
  'Vim-tiny forward under the debugger, first run, no breakpoint',
  `${plain.toFixed(2)} s = ${(plain / torch).toFixed(2)} x eager PyTorch (${torch.toFixed(2)} s)`,
);
print('the same with the NaN and Inf filters', `${(median(runs.filters) / plain).toFixed(2)} x`);
print(
  'the same with a condition at every scan that never holds',
  `${(median(runs.condition) / plain).toFixed(2)} x`,
);
print('adapter start to the first scan stop', `${median(runs.stop).toFixed(2)} s`);
print('variables reply at the scan', `${median(runs.variables).toFixed(1)} ms`);
print('package', `${(statSync('scanpoint.vsix').size / 1e6).toFixed(2)} MB`);
