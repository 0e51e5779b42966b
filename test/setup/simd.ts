/** Runs a suite with the SIMD kernels, as the product does; without this the plain ones are tested. */
import { expect } from 'vitest';
import { useNativeFolder } from '../../runtime/kernels/native/file';

expect(useNativeFolder('dist'), 'the SIMD kernels of dist').toBeDefined();
