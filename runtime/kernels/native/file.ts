import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { native, useNative } from './index';

/** The builds of kernels/assembly, the faster one first. */
export const BUILDS = ['kernels.relaxed.wasm', 'kernels.strict.wasm'] as const;

export type Build = (typeof BUILDS)[number];

/**
 * Uses the best of the builds in a folder that the engine can run; without any, the plain kernels do the work.
 * Gives the one that is used.
 */
export function useNativeFolder(folder: string, builds: readonly Build[] = BUILDS): Build | undefined {
  // Relaxed SIMD is finished but still behind a flag in Node 20. A run is too short to wait for the second compiler.
  setFlagsFromString('--experimental-wasm-relaxed-simd');
  setFlagsFromString('--no-liftoff');
  const found = builds.filter((build) => read(folder, build) !== undefined);
  const used = useNative(found.map((build) => read(folder, build)!));
  return used === undefined ? undefined : found[used];
}

function read(folder: string, build: Build): Uint8Array | undefined {
  try {
    return readFileSync(join(folder, build));
  } catch {
    return undefined;
  }
}

/** More threads than this gain nothing on matrices of these models' sizes. */
const ENOUGH_THREADS = 8;

/**
 * Lets up to `threads` threads compute, never more than the machine has cores; 0 chooses for the machine. `folder`
 * holds the bundled helper. Gives their number.
 */
export function useThreads(folder: string, threads: number): number {
  const cores = availableParallelism();
  const wanted = threads > 0 ? Math.min(threads, cores) : Math.min(cores, ENOUGH_THREADS);
  native()?.setThreads(wanted, join(folder, 'kernels.helper.js'));
  return native()?.threads ?? 1;
}
