/** A helper thread: runs chunks of kernels on the memory that it shares with the engine, until it is dismissed. */
import { workerData } from 'node:worker_threads';
import { type Kernel, kernelNames } from './kernels';
import { JobQueue } from './queue';

/** What a helper is started with. */
export interface HelperSetup {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  /** Address and length of the control block, in words. */
  control: [address: number, words: number];
  /** Address of the job's arguments. */
  args: number;
  /** Which of the helpers this is, from 0. */
  index: number;
  /** Its number in that place. */
  serial: number;
}

const { module, memory, control, args, index, serial } = workerData as HelperSetup;
const instance = new WebAssembly.Instance(module, { env: { memory } });
const kernels = kernelNames(instance).map((name) => instance.exports[name] as Kernel);
const queue = new JobQueue(new Int32Array(memory.buffer, ...control));

const serves = () => queue.serves(index, serial);
for (let epoch = 0; serves(); ) {
  const scratch = () => queue.scratchOf(index);
  epoch = queue.help(epoch, (kernel, from, to) => kernels[kernel](args, from, to, scratch()), serves);
}
