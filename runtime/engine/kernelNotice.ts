import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BUILDS, useNativeFolder } from '../kernels/native/file';

/** Uses the SIMD kernels of a folder. Gives a sentence that says why not where they cannot be used. */
export function useKernels(folder: string): string | undefined {
  if (useNativeFolder(folder)) return undefined;
  const there = BUILDS.some((build) => existsSync(join(folder, build)));
  const reason = there
    ? `this version of Node (${process.version}) cannot run them`
    : `${BUILDS.join(' and ')} are missing in ${folder}`;
  return `The SIMD kernels are not used because ${reason}; the run is slower.`;
}
