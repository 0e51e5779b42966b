import type { Tensor } from '../../tensor/tensor';
import type { ScanTensors } from '../selectiveScan';
import { address, contiguous, type NativeKernels } from './index';

/** Channels that the kernels take together, and steps of their segments, as in assembly/selectiveScan.ts. */
export const TILE = 16;
export const SEGMENT = 512;

/** y (B, D, L) of a scan, by the SIMD kernel; any strides. */
export function selectiveScan(simd: NativeKernels, s: ScanTensors, y: Tensor): void {
  const [batch, channels, length] = s.u.shape;
  const states = s.A.shape[1];
  simd.with(scanInputs(s), [y], ({ inputs, outputs }) => {
    const { u, delta, z, A, B, C, D } = scanOf(inputs, s);
    withPairs(simd, B, C, (pairs) => {
      simd.run({
        kernel: 'selectiveScan',
        args: [
          ...[u, delta, z, outputs[0]].flatMap(sequence),
          ...[address(A), address(D), pairs, channels, length, states],
        ],
        items: batch * Math.ceil(channels / TILE),
        grain: 1,
        scratch: 16 + 8 * SEGMENT + (TILE + 1) * padded(states),
      });
    });
  });
}

/** The tensors of a scan as the kernels take them: in one list, A and D contiguous. */
export function scanInputs({ u, delta, A, B, C, D, z }: ScanTensors): Tensor[] {
  return [u, delta, contiguous(A), B, C, ...(D ? [contiguous(D)] : []), ...(z ? [z] : [])];
}

/** The list back by names; `like` says which of them are there. */
export function scanOf([u, delta, A, B, C, ...rest]: readonly Tensor[], like: ScanTensors): ScanTensors {
  const D = like.D && rest[0];
  const z = like.z && rest[like.D ? 1 : 0];
  return { u, delta, A, B, C, D, z };
}

/** Calls `use` with the address of B and C (B, N, L) packed for the kernels: step by step, states side by side. */
export function withPairs(simd: NativeKernels, B: Tensor, C: Tensor, use: (pairs: number) => void): void {
  const [batch, states, length] = B.shape;
  const pairs = simd.memory.allocate(pairFloats(batch, states, length));
  try {
    simd.run({
      kernel: 'packScan',
      args: [...sequence(B), ...sequence(C), pairs.byteOffset, length, states],
      items: batch * (padded(states) / 4),
      grain: 1,
    });
    use(pairs.byteOffset);
  } finally {
    simd.memory.release(pairs);
  }
}

/** Floats of a pair of packed tensors (B, N, L). */
export const pairFloats = (batch: number, states: number, length: number) =>
  2 * batch * length * padded(states);

/** States are taken four at a time. */
export const padded = (states: number) => 4 * Math.ceil(states / 4);

/** A tensor of three axes as an argument of the kernels. */
export function sequence(x: Tensor | undefined): number[] {
  return x ? [address(x), ...x.strides.map((step) => 4 * step)] : [0, 0, 0, 0];
}
