import { numel, Tensor } from '../tensor/tensor';
import { native } from './native';

/** Square patches of an image (B, C, H, W): their edge and how far apart they begin, in pixels. */
export interface Patches {
  readonly size: number;
  readonly stride: number;
}

/** Calls `use` with the patches side by side, in row order: (B, patches, C size size), only good until it returns. */
export function withUnfolded(image: Tensor, patches: Patches, use: (unfolded: Tensor) => void): void {
  withScratch(unfoldedShape(image, patches), (unfolded) => {
    const step = image.strides[3];
    forEachPixelRow(image, patches, (k, at) => {
      for (let j = 0; j < patches.size; j++, at += step) unfolded.data[k + j] = image.data[at];
    });
    use(unfolded);
  });
}

/** Adds up in `image` what `fill` writes for each patch; patches may overlap. */
export function fold(image: Tensor, patches: Patches, fill: (unfolded: Tensor) => void): void {
  withScratch(unfoldedShape(image, patches), (unfolded) => {
    fill(unfolded);
    image.data.fill(0);
    const step = image.strides[3];
    forEachPixelRow(image, patches, (k, at) => {
      for (let j = 0; j < patches.size; j++, at += step) image.data[at] += unfolded.data[k + j];
    });
  });
}

/** A tensor that is not cleared, in the kernels' memory where there are any, while `use` runs. */
function withScratch(shape: readonly number[], use: (x: Tensor) => void): void {
  const memory = native()?.memory;
  const data = memory?.allocate(numel(shape)) ?? new Float32Array(numel(shape));
  try {
    use(new Tensor(data, shape));
  } finally {
    memory?.release(data);
  }
}

function unfoldedShape(image: Tensor, { size, stride }: Patches): number[] {
  const [batch, channels, height, width] = image.shape;
  const along = (pixels: number) => Math.floor((pixels - size) / stride) + 1;
  return [batch, along(height) * along(width), channels * size * size];
}

/** For each row of pixels of each patch: where it begins in the unfolded patches and in the image's storage. */
function forEachPixelRow(
  image: Tensor,
  { size, stride }: Patches,
  visit: (k: number, at: number) => void,
): void {
  const [batch, channels, height, width] = image.shape;
  const [stepBatch, stepChannel, stepRow, stepColumn] = image.strides;
  let k = 0;
  for (let b = 0; b < batch; b++) {
    for (let top = 0; top + size <= height; top += stride) {
      for (let left = 0; left + size <= width; left += stride) {
        for (let c = 0; c < channels; c++) {
          let at = image.offset + b * stepBatch + c * stepChannel + top * stepRow + left * stepColumn;
          for (let i = 0; i < size; i++, k += size, at += stepRow) visit(k, at);
        }
      }
    }
  }
}
