import { rowMajor, Tensor } from '../../tensor/tensor';
import { type LayerGradients, linearBackward } from './linear';

/**
 * Gradients of the patch embedding: image (B, C, H, W), weight (E, C, P, P), dy (B, patches, E). The forward pass
 * is a matrix product over unfolded patches (B, patches, C P P); so is this, and dx folds the patches back.
 */
export function patchBackward(
  image: Tensor,
  weight: Tensor,
  dy: Tensor,
  stride: number,
  g: LayerGradients,
): void {
  const [embed, channels, patch] = weight.shape;
  const inner = channels * patch * patch;
  const unfolded = zeros([dy.shape[0], dy.shape[1], inner]);
  forEachPixel(image, patch, stride, (k, at) => {
    unfolded.data[k] = image.data[at];
  });
  const matrix = (x: Tensor) => new Tensor(x.data, [embed, inner], rowMajor([embed, inner]), x.offset);
  const folded = g.dx && zeros(unfolded.shape);
  linearBackward(unfolded, matrix(weight), dy, {
    dx: folded,
    dweight: g.dweight && matrix(g.dweight),
    dbias: g.dbias,
  });
  if (g.dx && folded) fold(folded, patch, stride, g.dx);
}

/** Adds each patch to the pixels that it came from; patches may overlap. */
function fold(patches: Tensor, patch: number, stride: number, dx: Tensor): void {
  dx.data.fill(0);
  forEachPixel(dx, patch, stride, (k, at) => {
    dx.data[at] += patches.data[k];
  });
}

/** For each element k of the unfolded patches, row-major: where it lies in the image's storage. */
function forEachPixel(
  image: Tensor,
  patch: number,
  stride: number,
  visit: (k: number, at: number) => void,
): void {
  const [batch, channels, height, width] = image.shape;
  const [stepBatch, stepChannel, stepRow, stepColumn] = image.strides;
  let k = 0;
  for (let b = 0; b < batch; b++) {
    for (let top = 0; top + patch <= height; top += stride) {
      for (let left = 0; left + patch <= width; left += stride) {
        for (let c = 0; c < channels; c++) {
          for (let i = 0; i < patch; i++) {
            let at = image.offset + b * stepBatch + c * stepChannel + (top + i) * stepRow + left * stepColumn;
            for (let j = 0; j < patch; j++, at += stepColumn) visit(k++, at);
          }
        }
      }
    }
  }
}

function zeros(shape: readonly number[]): Tensor {
  return new Tensor(new Float32Array(shape.reduce((n, size) => n * size, 1)), shape);
}
