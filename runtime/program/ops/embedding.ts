import type { Tensor } from '../../tensor/tensor';
import { type OpKind, requireShape, shapeText } from '../op';

/** ids (B, L) and weight (V, E) -> (B, L, E): the row of the table that each token names. */
export const embedding: OpKind = {
  name: 'embedding',
  infer: ({ ids, weight }) => {
    requireShape(ids.shape.length === 2 && weight.shape.length === 2, () => {
      return `embedding with weight ${shapeText(weight.shape)} takes ids [B, L] but got ${shapeText(ids.shape)}`;
    });
    return { y: { shape: [...ids.shape, weight.shape[1]], axes: ['B', 'L', 'E'] } };
  },
  run: ({ ids, weight }, { y }) => lookUp(ids, weight, y),
  backward: {
    reads: ['ids'],
    constant: ['ids'],
    run: ({ ids, dy }, { dweight }) => gather(ids, dy, dweight),
  },
};

/** An id that the table does not have gives a row of NaN, which every view shows. */
function lookUp(ids: Tensor, weight: Tensor, y: Tensor): void {
  const [rows, width] = weight.shape;
  const table = weight.toArray();
  const to = y.toArray();
  ids.toArray().forEach((id, i) => {
    if (isRow(id, rows)) to.set(table.subarray(id * width, (id + 1) * width), i * width);
    else to.fill(Number.NaN, i * width, (i + 1) * width);
  });
}

/** Each row of the table gets the gradients of all the places that read it. */
function gather(ids: Tensor, dy: Tensor, dweight: Tensor): void {
  const [rows, width] = dweight.shape;
  const from = dy.toArray();
  const to = dweight.toArray().fill(0);
  ids.toArray().forEach((id, i) => {
    if (!isRow(id, rows)) return;
    for (let k = 0; k < width; k++) to[id * width + k] += from[i * width + k];
  });
}

function isRow(id: number, rows: number): boolean {
  return Number.isInteger(id) && id >= 0 && id < rows;
}
