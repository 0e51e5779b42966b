import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Debugger, type Stop } from '../../runtime/engine/debugger';
import { siteText } from '../../runtime/engine/frames';
import { gradientsOf } from '../../runtime/engine/gradientHealth';
import { type Loaded, load } from '../../runtime/engine/load';
import { resultLines } from '../../runtime/engine/result';
import { startThreads } from '../../runtime/engine/threads';
import { formatCount, formatNumber } from '../protocol/numbers';
import { UsageError } from './flags';
import type { RunOptions } from './options';
import { saveRun } from './save';

/** A stop of a headless run. */
interface Hit {
  reason: Stop['reason'];
  site: string;
  description: string;
  text?: string;
}

/** Runs a model to its end, reporting every breakpoint on the way. Gives the process's exit code. */
export async function run(options: RunOptions, root: string): Promise<number> {
  const say = options.json ? () => {} : (line: string) => console.log(line);
  const loaded = await load(
    requestOf(options),
    (source) => readSource(root, source),
    async () => {},
  );
  const { program } = loaded.state;
  startThreads(program, join(root, 'dist'), options.threads);
  say(
    `${program.name}: ${formatCount(program.parameterCount)} parameters, ${formatCount(program.ops.length)} ops.`,
  );
  for (const note of loaded.notes) say(note);
  const messages: string[] = [];
  const output = (text: string) => {
    messages.push(text);
    say(text);
  };
  const started = performance.now();
  const hits = await runToEnd(loaded, options, output);
  const seconds = (performance.now() - started) / 1000;
  if (options.save) saveRun(loaded.state, options.save);
  const result = resultLines(loaded);
  for (const line of result) say(line);
  say(`${program.name} finished after ${formatNumber(seconds)} s, ${hits.length} hits.`);
  if (options.json)
    console.log(JSON.stringify(report(loaded, hits, messages, result, seconds, options.save)));
  return hits.length > 0 && options.failOnHit ? 3 : 0;
}

function requestOf({ model, checkpoint, input, memory, ...rest }: RunOptions) {
  const absolute = (path: string | undefined) => (path === undefined ? undefined : resolve(path));
  // Nobody steps back here.
  const lean = rest.save === undefined;
  return {
    ...rest,
    model,
    memoryLimit: memory,
    lean,
    checkpoint: absolute(checkpoint),
    input: absolute(input),
  };
}

function readSource(root: string, source: string): string | undefined {
  try {
    return readFileSync(join(root, source), 'utf8');
  } catch {
    return undefined;
  }
}

async function runToEnd(loaded: Loaded, options: RunOptions, output: (text: string) => void): Promise<Hit[]> {
  const { state } = loaded;
  const debug = new Debugger(state, {
    output,
    probeFailed: (id, message) => output(`The breakpoint ${id} is not used: ${message}`),
    breathe: () => false,
  });
  const refused = debug.setProbes(options.probes).find((r) => !r.verified);
  if (refused) throw new UsageError(`--break ${refused.id}: ${refused.message}`);
  debug.setFilters(options.filters);
  const hits: Hit[] = [];
  for (let stop = await debug.resume('continue'); stop; stop = await debug.resume('continue')) {
    const { reason, description, text } = stop;
    hits.push({ reason, site: siteText(state), description, text });
    output(text ? `${description}: ${text}` : description);
  }
  return hits;
}

function report(
  loaded: Loaded,
  hits: Hit[],
  messages: string[],
  result: string[],
  seconds: number,
  saved: string | undefined,
) {
  const { program, execution } = loaded.state;
  const { loss } = program.outputs;
  return {
    model: program.name,
    parameters: program.parameterCount,
    ops: program.ops.length,
    notes: loaded.notes,
    hits,
    messages,
    result,
    loss: loss && execution.tensor(loss).at(),
    gradients: program.gradients.size > 0 ? gradientsOf(loaded.state) : undefined,
    seconds,
    /** Bytes of memory that the process took at most. */
    peakMemory: 1024 * process.resourceUsage().maxRSS,
    saved,
  };
}
