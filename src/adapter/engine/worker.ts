/** The engine's thread: runs the model, and answers calls between two ops. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { Engine } from '../../../runtime/engine/engine';
import { useKernels } from '../../../runtime/engine/kernelNotice';
import { type Call, type EngineEvent, PAUSE, type Reply, WAITING, type WorkerSetup } from './messages';

const port = parentPort!;
const { control, root } = workerData as WorkerSetup;
const cells = new Int32Array(control);

const tell = (event: EngineEvent): void => port.postMessage(event);

const notice = useKernels(__dirname);
if (notice) tell({ event: 'output', text: notice, category: 'console' });

const engine = new Engine(
  {
    stopped: (stop) => tell({ event: 'stopped', stop }),
    finished: () => tell({ event: 'finished' }),
    output: (text, category) => tell({ event: 'output', text, category }),
    probeFailed: (id, message) => tell({ event: 'probeFailed', id, message }),
    progress: (step) => tell({ event: 'progress', step }),
    breathe,
  },
  readSource,
  __dirname,
);

/** Costs one atomic load unless somebody waits. */
function breathe(): boolean | Promise<boolean> {
  if (Atomics.load(cells, WAITING) > 0)
    return new Promise((resolve) => setImmediate(() => resolve(takePause())));
  return takePause();
}

function takePause(): boolean {
  return Atomics.exchange(cells, PAUSE, 0) === 1;
}

function readSource(source: string): string | undefined {
  try {
    return readFileSync(join(root, source), 'utf8');
  } catch {
    return undefined;
  }
}

port.on('message', (call: Call) => {
  Atomics.sub(cells, WAITING, 1);
  void answer(call).then((reply) => port.postMessage(reply));
});

async function answer({ id, method, args }: Call): Promise<Reply> {
  try {
    const run = engine[method] as (...args: unknown[]) => unknown;
    return { id, value: await run.apply(engine, args) };
  } catch (error) {
    return { id, ...describe(error) };
  }
}

/** Errors of the languages's own kinds are faults of ours; the classes of the runtime carry a sentence. */
function describe(error: unknown): { error: string; expected: boolean } {
  if (!(error instanceof Error)) return { error: String(error), expected: false };
  const expected = !(
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  );
  return { error: expected ? error.message : (error.stack ?? error.message), expected };
}
