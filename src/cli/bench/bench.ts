import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { native } from '../../../runtime/kernels/native';
import { parseFlags, positiveNumber, UsageError, wholeNumber } from '../flags';
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

const TEXT = { type: 'string' } as const;
const FLAGS = { python: TEXT, only: TEXT, rounds: TEXT, seconds: TEXT };

function readOptions(args: string[]) {
  const { values, positionals } = parseFlags(args, FLAGS);
  if (positionals.length > 0)
    throw new UsageError(`"scanpoint bench" takes no model; "${positionals[0]}" is one word too many.`);
  const names = Object.keys(MEASURES) as Measure[];
  const only = values.only?.split(',').map((word) => {
    const name = names.find((n) => n === word.trim());
    if (!name) throw new UsageError(`--only knows ${names.join(', ')}, not "${word}".`);
    return name;
  });
  return {
    python: values.python ?? 'python3',
    only: only ?? names,
    rounds: wholeNumber('rounds', values.rounds, 1) ?? 5,
    seconds: positiveNumber('seconds', values.seconds) ?? 0.3,
  };
}
