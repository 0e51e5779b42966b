import { causalConv1dBackward } from '../../kernels/backward/convolution';
import { type LayerGradients, linearBackward } from '../../kernels/backward/linear';
import { layerNormBackward, rmsNormBackward } from '../../kernels/backward/norm';
import { patchBackward } from '../../kernels/backward/patch';
import { ropeBackward } from '../../kernels/backward/rope';
import { causalConv1d as convolve, patchConvolution } from '../../kernels/convolution';
import { linear as multiply } from '../../kernels/linear';
import { layerNorm as layerNormOf, rmsNorm as rmsNormOf } from '../../kernels/norm';
import { rope as rotate } from '../../kernels/rope';
import { type Tensor, view } from '../../tensor/tensor';
import { type OpKind, requireShape, shapeText } from '../op';

/** x (..., in) and weight (out, in) -> (..., out). */
export const linear: OpKind = {
  name: 'linear',
  infer: ({ x, weight }) => {
    const width = x.shape.at(-1);
    requireShape(x.shape.length >= 2 && x.shape.length <= 3 && width === weight.shape[1], () => {
      return `linear with weight ${shapeText(weight.shape)} takes [..., ${weight.shape[1]}] but got ${shapeText(x.shape)}`;
    });
    return { y: { shape: [...x.shape.slice(0, -1), weight.shape[0]], axes: [...x.axes.slice(0, -1), 'E'] } };
  },
  run: ({ x, weight, bias }, { y }) => multiply(threeAxes(x), weight, bias, threeAxes(y)),
  backward: {
    reads: ['x', 'weight'],
    run: ({ x, weight, dy }, g) =>
      linearBackward(threeAxes(x), weight, threeAxes(dy), { ...g, dx: g.dx && threeAxes(g.dx) }),
  },
};

/** The same along the channel axis: x (B, in, L) and weight (out, in) -> (B, out, L). */
export const project: OpKind = {
  name: 'project',
  infer: ({ x, weight }) => {
    requireShape(x.shape.length === 3 && x.shape[1] === weight.shape[1], () => {
      return `project with weight ${shapeText(weight.shape)} takes [B, ${weight.shape[1]}, L] but got ${shapeText(x.shape)}`;
    });
    return { y: { shape: [x.shape[0], weight.shape[0], x.shape[2]], axes: ['B', 'D', 'L'] } };
  },
  run: ({ x, weight, bias }, { y }) => multiply(channelsLast(x), weight, bias, channelsLast(y)),
  backward: {
    reads: ['x', 'weight'],
    run: ({ x, weight, dy }, g) =>
      linearBackward(channelsLast(x), weight, channelsLast(dy), { ...g, dx: g.dx && channelsLast(g.dx) }),
  },
};

/** x (B, D, L) as (B, L, D). */
function channelsLast(x: Tensor): Tensor {
  return x.with(view.transpose(x, 1, 2));
}

function threeAxes(x: Tensor): Tensor {
  if (x.rank === 3) return x;
  return x.with({ shape: [1, ...x.shape], strides: [0, ...x.strides], offset: x.offset });
}

/** x (B, D, L), weight (D, 1, W), bias (D) -> (B, D, L). */
export const causalConv1d: OpKind = {
  name: 'causal_conv1d',
  infer: ({ x, weight }) => {
    requireShape(x.shape.length === 3 && x.shape[1] === weight.shape[0], () => {
      return `causal_conv1d with weight ${shapeText(weight.shape)} takes [B, ${weight.shape[0]}, L] but got ${shapeText(x.shape)}`;
    });
    return { y: { shape: x.shape, axes: ['B', 'D', 'L'] } };
  },
  run: ({ x, weight, bias }, { y }) => convolve(x, weight, bias, y),
  backward: {
    reads: ['x', 'weight'],
    run: ({ x, weight, dy }, g) => causalConv1dBackward(x, weight, dy, g),
  },
};

/** image (B, C, H, W), weight (E, C, P, P), bias (E) -> (B, patches, E). */
export const patchEmbed: OpKind = {
  name: 'patch_embed',
  infer: ({ x, weight }, a) => {
    const [batch, channels, height, width] = x.shape;
    const [embed, inputs, patch] = weight.shape;
    const stride = a.stride as number;
    requireShape(x.shape.length === 4 && channels === inputs && height >= patch && width >= patch, () => {
      return `patch_embed with weight ${shapeText(weight.shape)} takes [B, ${inputs}, H >= ${patch}, W >= ${patch}] but got ${shapeText(x.shape)}`;
    });
    const grid = (size: number) => Math.floor((size - patch) / stride) + 1;
    return { y: { shape: [batch, grid(height) * grid(width), embed], axes: ['B', 'L', 'E'] } };
  },
  run: ({ x, weight, bias }, { y }, a) => patchConvolution(x, weight, bias, y, a.stride as number),
  backward: {
    reads: ['x', 'weight'],
    run: ({ x, weight, dy }, g, a) => patchBackward(x, weight, dy, a.stride as number, g),
  },
};

function norm(
  name: string,
  run: (x: Tensor, weight: Tensor, bias: Tensor | undefined, eps: number, y: Tensor) => void,
  backward: (x: Tensor, weight: Tensor, dy: Tensor, eps: number, g: LayerGradients) => void,
): OpKind {
  return {
    name,
    infer: ({ x, weight }) => {
      requireShape(x.shape.length === 3 && x.shape[2] === weight.shape[0], () => {
        return `${name} with weight ${shapeText(weight.shape)} takes [B, L, ${weight.shape[0]}] but got ${shapeText(x.shape)}`;
      });
      return { y: { shape: x.shape, axes: x.axes } };
    },
    run: ({ x, weight, bias }, { y }, a) => run(x, weight, bias, a.eps as number, y),
    backward: {
      reads: ['x', 'weight'],
      run: ({ x, weight, dy }, g, a) => backward(x, weight, dy, a.eps as number, g),
    },
  };
}

export const rmsNorm = norm('rms_norm', rmsNormOf, rmsNormBackward);
export const layerNorm = norm('layer_norm', layerNormOf, layerNormBackward);

/** x (B, M, E), cos and sin (M or M - 1, E). */
export const rope: OpKind = {
  name: 'rope',
  infer: ({ x, cos }) => {
    const positions = x.shape[1] - (x.shape[1] % 2);
    requireShape(positions === cos.shape[0] && x.shape[2] === cos.shape[1], () => {
      return `rope has angles for ${cos.shape[0]} positions of ${cos.shape[1]} features but got ${shapeText(x.shape)}, of which ${positions} are rotated`;
    });
    return { y: { shape: x.shape, axes: x.axes } };
  },
  run: ({ x, cos, sin }, { y }) => rotate(x, cos, sin, y),
  backward: {
    reads: ['cos', 'sin'],
    constant: ['cos', 'sin'],
    run: ({ cos, sin, dy }, { dx }) => ropeBackward(cos, sin, dy, dx),
  },
};
