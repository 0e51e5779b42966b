/**
 * WebAssembly SIMD kernels, written in AssemblyScript; each has a plain TypeScript twin that the tests compare it
 * with. All have the signature (args, from, to, scratch): `args` is the address of the kernel's arguments, `from`
 * and `to` say which items of the work to do, and `scratch` is memory of the calling thread. Sizes are in
 * elements; addresses and steps in bytes, so that a step may be negative (a flipped axis) or 0 (an expanded one).
 */
export { matmul } from './matmul';
export { peak } from './peak';
export { exponential, silu, siluGradient, softplus, softplusGradient } from './activation';
export { causalConv1d, causalConv1dGradient } from './convolution';
export { add, copy, mul, neg, scale } from './elementwise';
export { norm } from './norm';
export { normGradient } from './normGradient';
export { sumColumns, sumRows } from './reduction';
export { rope } from './rope';
export { softmax, softmaxSums } from './softmax';
export { extremes, nonFinite } from './extremes';
export { histogram } from './histogram';
export { statistics } from './summary';
export { reduceWindow } from './window';
export { packScan, sumScanGradients } from './scanPairs';
export { selectiveScan } from './selectiveScan';
export { selectiveScanBackward } from './selectiveScanBackward';
