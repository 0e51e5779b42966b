import { Tensor } from '../../tensor/tensor';
import type { ScanGradients } from '../backward/selectiveScan';
import { copy } from '../elementwise';
import type { ScanTensors } from '../selectiveScan';
import { address, type NativeKernels } from './index';
import { padded, pairFloats, SEGMENT, scanInputs, scanOf, sequence, TILE, withPairs } from './selectiveScan';

/** Chunks of channels at most; each has its own dB and dC, which are sums over all channels. */
const CHUNKS = 8;

/** Gradients of a scan by the SIMD kernels; any strides. */
export function selectiveScanBackward(
  simd: NativeKernels,
  s: ScanTensors,
  dy: Tensor,
  g: ScanGradients,
): void {
  const names = (Object.keys(g) as (keyof ScanGradients)[]).filter((name) => g[name]);
  const targets = names.map((name) => targetOf(g[name]!));
  simd.with([dy, ...scanInputs(s)], targets, ({ inputs: [dyHere, ...inputs], outputs }) => {
    const here: ScanGradients = Object.fromEntries(names.map((name, i) => [name, outputs[i]]));
    writeGradients(simd, scanOf(inputs, s), dyHere, here);
  });
  names.forEach((name, i) => {
    if (targets[i] !== g[name]) copy(targets[i], g[name]!);
  });
}

/** The kernels write the gradients of parameters contiguously. */
function targetOf(gradient: Tensor): Tensor {
  if (gradient.rank === 3 || gradient.contiguous) return gradient;
  return new Tensor(new Float32Array(gradient.numel), gradient.shape);
}

function writeGradients(simd: NativeKernels, s: ScanTensors, dy: Tensor, g: ScanGradients): void {
  const [batch, channels, length] = s.u.shape;
  const states = s.A.shape[1];
  const chunk = TILE * Math.ceil(channels / (TILE * CHUNKS));
  const chunks = Math.ceil(channels / chunk);
  const parts = simd.memory.allocate(chunks * pairFloats(batch, states, length));
  try {
    withPairs(simd, s.B, s.C, (pairs) => {
      simd.run({
        kernel: 'selectiveScanBackward',
        args: [
          ...[s.u, s.delta, s.z, dy, g.du, g.ddelta, g.dz].flatMap(sequence),
          ...[s.A, s.D, g.dA, g.dD].map(address),
          ...[pairs, parts.byteOffset, batch, channels, length, states, chunk],
        ],
        items: chunks,
        grain: 1,
        scratch: scratchFloats(states, length),
      });
    });
    simd.run({
      kernel: 'sumScanGradients',
      args: [...[g.dB, g.dC].flatMap(sequence), parts.byteOffset, chunks, batch, length, states],
      items: batch * (padded(states) / 4),
      grain: 1,
    });
  } finally {
    simd.memory.release(parts);
  }
}

/** A segment with its sums, eight rows and states; for a tile dh, dA, dD and the first states of all segments. */
function scratchFloats(states: number, length: number): number {
  const row = padded(states);
  const segments = Math.ceil(length / SEGMENT);
  return 16 + 16 * SEGMENT + row * (1 + 2 * SEGMENT) + TILE * (row * (2 + segments) + 4);
}
