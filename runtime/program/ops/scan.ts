import { selectiveScanBackward } from '../../kernels/backward/selectiveScan';
import { type ScanTensors, selectiveScan as scan } from '../../kernels/selectiveScan';
import { type OpKind, requireShape, shapeText } from '../op';

/** u, delta, z (B, D, L), A (D, N), B and C (B, N, L), D (D) -> y (B, D, L). D and z may be absent. */
export const selectiveScan: OpKind = {
  name: 'selective_scan',
  infer: ({ u, delta, A, B, C, D, z }) => {
    const [batch, channels, length] = u.shape;
    const states = A.shape[1];
    const expected = {
      u: [batch, channels, length],
      delta: u.shape,
      A: [channels, states],
      B: [batch, states, length],
    };
    const all = { ...expected, C: expected.B, D: [channels], z: u.shape };
    for (const [name, value] of Object.entries({ u, delta, A, B, C, D, z })) {
      const shape = all[name as keyof typeof all];
      requireShape(!value || shapeText(value.shape) === shapeText(shape), () => {
        return `selective_scan takes ${name} ${shapeText(shape)} but got ${shapeText(value.shape)} (u is ${shapeText(u.shape)}, A is ${shapeText(A.shape)})`;
      });
    }
    return { y: { shape: u.shape, axes: ['B', 'D', 'L'] } };
  },
  run: (inputs, { y }) => scan(inputs as unknown as ScanTensors, y),
  backward: {
    reads: ['u', 'delta', 'A', 'B', 'C', 'D', 'z'],
    run: ({ dy, ...inputs }, gradients) =>
      selectiveScanBackward(inputs as unknown as ScanTensors, dy, gradients),
  },
};
