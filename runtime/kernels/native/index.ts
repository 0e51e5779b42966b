import { NativeKernels } from './kernels';

export { float, type Job, type NativeKernels } from './kernels';
export { address, contiguous, rowMajorCopy } from './operands';

let kernels: NativeKernels | undefined;

/**
 * Uses the first of these modules that the engine can run from now on; without this call, or where it can run
 * none, the plain kernels do the work. Gives the number of the module that is used.
 */
export function useNative(modules: readonly Uint8Array[]): number | undefined {
  kernels = undefined;
  for (const [i, module] of modules.entries()) {
    if (!WebAssembly.validate(module as BufferSource)) continue;
    try {
      kernels = new NativeKernels(new WebAssembly.Module(module as BufferSource));
      return i;
    } catch {
      // An engine without shared memory still computes the same model, only slower.
    }
  }
  return undefined;
}

/** The SIMD kernels, where there are any. */
export function native(): NativeKernels | undefined {
  return kernels;
}
