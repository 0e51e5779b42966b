import { useThreads } from '../kernels/native/file';
import type { Program } from '../program/program';

/** Results of a program, in elements, from which on helper threads save more than their start costs. */
const WORTH = 4e6;

/**
 * Lets up to `threads` threads compute a program if it is large enough; 0 chooses for the machine. `folder` holds
 * the kernels. Gives how many compute.
 */
export function startThreads(program: Program, folder: string, threads = 0): number {
  const elements = program.storageSizes.reduce((sum, size) => sum + size, 0);
  return useThreads(folder, elements < WORTH ? 1 : threads);
}
