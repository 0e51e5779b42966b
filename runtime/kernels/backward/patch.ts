import { rowMajor, Tensor } from '../../tensor/tensor';
import { fold, withUnfolded } from '../patches';
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
  const [embed, channels, size] = weight.shape;
  const shape = [embed, channels * size * size];
  const matrix = (x: Tensor) => new Tensor(x.data, shape, rowMajor(shape), x.offset);
  const { dx, dweight, dbias } = g;
  const patches = { size, stride };
  withUnfolded(image, patches, (x) => {
    linearBackward(x, matrix(weight), dy, { dweight: dweight && matrix(dweight), dbias });
    if (dx) fold(dx, patches, (folded) => linearBackward(x, matrix(weight), dy, { dx: folded }));
  });
}
