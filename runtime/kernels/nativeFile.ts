import { readFileSync } from 'node:fs';
import { useNative } from './native';

/** Uses the SIMD kernels of a file; without it, or where they cannot run, the plain ones do the work. */
export function useNativeFile(path: string): boolean {
  try {
    return useNative(readFileSync(path));
  } catch {
    return useNative(undefined);
  }
}
