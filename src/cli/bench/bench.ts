import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { native } from '../../../runtime/kernels/native';
import { UsageError } from '../options';
import { Context } from './context';
import { debuggerFigures } from './debugging';
import { memoryFigures } from './memory';
import { modelFigures } from './model';
import { Peer } from './peer';
import { productFigures } from './product';
import { scalingFigures } from './scaling';
import { scanFigures } from './scan';
import { summaryFigures } from './summary';

const MEASURES = {
  product: productFigures,
  scan: scanFigures,
  model: modelFigures,
  summary: summaryFigures,
  debugger: debuggerFigures,
  memory: memoryFigures,
  scaling: scalingFigures,
} as const;

export const BENCH_USAGE = `Usage: scanpoint bench [options]

Measures this machine: kernels, Vim-tiny forward and backward, summaries, memory, the debugger's cost and how
time grows, beside eager PyTorch in the same run where a Python has it.

  --python PYTHON     the Python whose PyTorch is the peer (python3)
  --only LIST         some of ${Object.keys(MEASURES).join(', ')}
  --rounds N          how often everything is measured (5)
  --seconds S         for the fastest run of each measure in a round (0.3)`;

/** `scanpoint bench`. Gives the process's exit code. */
export async function bench(args: string[], dist: string): Promise<number> {
  const { python, only, rounds, seconds } = readOptions(args);
  const simd = native();
  if (!simd) throw new UsageError('The SIMD kernels cannot be used here, so there is nothing to measure.');
  const cores = availableParallelism();
  const peer = await Peer.start(python, join(dist, '..', 'examples'));
  console.log(
    `${cores} cores, ${rounds} rounds; ${peer ? `PyTorch of ${python}` : `without PyTorch: ${python} cannot import it`}.`,
  );
  const context = new Context(simd, dist, cores, rounds, seconds, peer);
  try {
    for (const name of only) for await (const line of MEASURES[name](context)) console.log(line);
  } finally {
    peer?.end();
    context.threads(1);
  }
  return 0;
}

type Measure = keyof typeof MEASURES;

function readOptions(args: string[]) {
  const { values } = parse(args);
  const number = (name: string, text: string | undefined, fallback: number) => {
    const value = text === undefined ? fallback : Number(text);
    if (!(value > 0)) throw new UsageError(`--${name} takes a number above 0, not "${text}".`);
    return value;
  };
  const names = Object.keys(MEASURES) as Measure[];
  const only = values.only?.split(',').map((word) => {
    const name = names.find((n) => n === word.trim());
    if (!name) throw new UsageError(`--only knows ${names.join(', ')}, not "${word}".`);
    return name;
  });
  return {
    python: values.python ?? 'python3',
    only: only ?? names,
    rounds: Math.ceil(number('rounds', values.rounds, 5)),
    seconds: number('seconds', values.seconds, 0.3),
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ args, options: { python: text, only: text, rounds: text, seconds: text } });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0].replace(/\.?$/, '.'));
  }
}
