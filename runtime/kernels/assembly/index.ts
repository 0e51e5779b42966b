/**
 * WebAssembly SIMD kernels, written in AssemblyScript; each has a plain TypeScript twin that the tests compare it
 * with. All have the signature (args, from, to, scratch): `args` is the address of the kernel's arguments, `from`
 * and `to` say which items of the work to do, and `scratch` is memory of the calling thread. Sizes are in
 * elements; addresses and steps in bytes, so that a step may be negative (a flipped axis) or 0 (an expanded one).
 */
export { matmul, packPanels } from './matmul';
