/**
 * The figures of the PyTorch target: what a training step costs under us, against plain Python in interleaved rounds,
 * and how fast we answer, against debugpy alone. Run with `npm run bench:pytorch`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePython } from '../setup/python.mjs';
import { DapClient, median } from './client.mjs';

const ROUNDS = Number(process.argv[2] ?? 5);
const python = await ensurePython();
const folder = mkdtempSync(join(tmpdir(), 'scanpoint-bench-'));

const ours = () => new DapClient(process.execPath, ['dist/adapter.js', '--pytorch']);
const debugpy = () => new DapClient(python, ['-m', 'debugpy.adapter']);

/** Starts a program, sets what is asked for, and lets it run. */
async function launch(client, program, { args = [], functions = [], lines = [], settings = {} } = {}) {
  await client.request('initialize', {
    adapterID: 'mamba',
    pathFormat: 'path',
    linesStartAt1: true,
    columnsStartAt1: true,
  });
  const start = { request: 'launch', program, args, console: 'internalConsole', cwd: process.cwd() };
  client.send('launch', { ...start, python: [python], ...settings });
  await client.event('initialized');
  const source = { path: join(process.cwd(), program) };
  await client.request('setBreakpoints', { source, breakpoints: lines.map((line) => ({ line })) });
  await client.request('setFunctionBreakpoints', { breakpoints: functions });
  await client.request('setExceptionBreakpoints', { filters: [] });
  await client.request('configurationDone');
}

function plainStep() {
  const file = join(folder, 'plain.json');
  spawnSync(python, ['test/bench/training_step.py', file], { stdio: 'inherit' });
  return JSON.parse(readFileSync(file, 'utf8'));
}

async function debuggedStep(setup) {
  const file = join(folder, 'debugged.json');
  const client = ours();
  await launch(client, 'test/bench/training_step.py', { ...setup, args: [file] });
  await ended(client);
  await client.dispose();
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** A training takes longer than the client waits for one event. */
async function ended(client) {
  while (!client.received.some((m) => m.event === 'terminated'))
    await new Promise((resolve) => setTimeout(resolve, 50));
}

const WAYS = {
  'attached and idle, without our part in the process': { settings: { agent: false } },
  'our part in the process, no breakpoint': {},
  'a condition at every boundary that never holds': {
    functions: [
      { name: 'selective_scan', condition: 'delta.max() > 1e30' },
      { name: 'causal_conv1d', condition: 'x.max() > 1e30' },
    ],
  },
  'summaries of every tensor at every boundary': {
    settings: { trace: 'boundaries', traceFile: join(folder, 'trace.jsonl') },
  },
};

async function steps() {
  const ratios = Object.fromEntries(Object.keys(WAYS).map((way) => [way, []]));
  let same = true;
  for (let round = 0; round < ROUNDS; round++) {
    const plain = plainStep();
    for (const [way, setup] of Object.entries(WAYS)) {
      const step = await debuggedStep(setup);
      ratios[way].push(step.seconds / plain.seconds);
      same &&= step.loss === plain.loss;
    }
  }
  console.log(
    `A training step, against plain Python (the losses are ${same ? 'the same bits' : 'DIFFERENT'}):`,
  );
  for (const [way, xs] of Object.entries(ratios))
    console.log(
      `  ${way}: ${median(xs).toFixed(3)} x (${Math.min(...xs).toFixed(3)} to ${Math.max(...xs).toFixed(3)})`,
    );
}

const lineOf = (program, text) =>
  1 +
  readFileSync(program, 'utf8')
    .split('\n')
    .findIndex((l) => l.includes(text));

async function firstStop(make) {
  const program = 'test/bench/many_tensors.py';
  const start = performance.now();
  const client = make();
  await launch(client, program, { lines: [lineOf(program, 'large = torch.zeros')] });
  await client.event('stopped');
  const seconds = (performance.now() - start) / 1000;
  await client.dispose();
  return seconds;
}

async function variables(make) {
  const program = 'test/bench/many_tensors.py';
  const client = make();
  await launch(client, program, { lines: [lineOf(program, 'return len(tensors)')] });
  const { body } = await client.event('stopped');
  const { stackFrames } = await client.request('stackTrace', { threadId: body.threadId });
  const { scopes } = await client.request('scopes', { frameId: stackFrames[0].id });
  const locals = scopes.find((s) => s.name === 'Locals');
  const timed = async (variablesReference) => {
    const start = performance.now();
    const answer = await client.request('variables', { variablesReference });
    return { ms: performance.now() - start, answer };
  };
  const frame = await timed(locals.variablesReference);
  const large = await timed(frame.answer.variables.find((v) => v.name === 'large').variablesReference);
  await client.dispose();
  return { frame: frame.ms, large: large.ms };
}

async function answers() {
  const [own, peer] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    own.push({ stop: await firstStop(ours), ...(await variables(ours)) });
    peer.push({ stop: await firstStop(debugpy), ...(await variables(debugpy)) });
  }
  const of = (list, key) => median(list.map((x) => x[key]));
  const line = (what, key, unit, digits) =>
    console.log(
      `${what}: ${of(own, key).toFixed(digits)} ${unit}, debugpy alone ${of(peer, key).toFixed(digits)} ${unit}, ${(of(own, key) / of(peer, key)).toFixed(2)} x`,
    );
  line('F5 to the first stop', 'stop', 's', 2);
  line('variables of a frame with 20 tensors, one of 1e8 elements', 'frame', 'ms', 0);
  line('expanding that one', 'large', 'ms', 0);
  const script = `
import timeit, torch
x = torch.randn(100_000_000)
print(min(timeit.repeat(x.sum, number=1, repeat=5)))`;
  const sum = Number(spawnSync(python, ['-c', script], { encoding: 'utf8' }).stdout);
  console.log(`  one sum over it: ${(1000 * sum).toFixed(0)} ms`);
}

function wrapper() {
  const script = `
import sys, timeit
sys.path.append('runtime/agent')
source = 'def selective_scan(u):\\n    return u\\n'
plain = {}
exec(compile(source, 'plain.py', 'exec'), plain)
import scanpoint_agent
scanpoint_agent.call('{"id": 1, "method": "start", "args": {}}')
import types
module = types.ModuleType('ours')
sys.modules['ours'] = module
from scanpoint_agent import targets, wrap
import importlib.util, pathlib, tempfile
path = pathlib.Path(tempfile.mkdtemp()) / 'bench_scan_module.py'
path.write_text(source)
sys.path.insert(0, str(path.parent))
import bench_scan_module
wrapped = bench_scan_module.selective_scan
assert wrapped.__code__.co_code != plain['selective_scan'].__code__.co_code, 'it is not wrapped'
best = lambda f: min(timeit.repeat(lambda: f(1), number=200_000, repeat=5)) / 200_000
print(best(wrapped) - best(plain['selective_scan']))`;
  const { stdout, stderr } = spawnSync(python, ['-c', script], { encoding: 'utf8' });
  console.log(
    `a call through the idle wrapper: ${stdout ? `${(1e6 * Number(stdout)).toFixed(3)} us` : stderr.trim().split('\n').at(-1)}`,
  );
}

wrapper();
await answers();
await steps();
