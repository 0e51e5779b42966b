/** From an image to a model's input, as torchvision's Resize, CenterCrop, ToTensor and Normalize do it. */
import { roundHalfEven } from '../checkpoint/encode';
import { InputError } from '../checkpoint/errors';
import { Tensor } from '../tensor/tensor';
import { type DecodedImage, type Image8, toGrey, toRgb } from './image';
import { type Interpolation, resize } from './resize';

export interface Preprocess {
  /** Length of the shorter side; the longer one keeps the proportions. Absent: not resized. */
  resize?: number;
  /** Side of the square cut out of the middle; black is added where the image is smaller. Absent: not cut. */
  crop?: number;
  interpolation: Interpolation;
  /** Per channel, of values from 0 to 1. */
  mean: number[];
  std: number[];
  /** 3 for RGB, 1 for grey. */
  channels: number;
}

const IMAGENET_MEAN = [0.485, 0.456, 0.406];
const IMAGENET_STD = [0.229, 0.224, 0.225];
/** Means of the above, for models of grey images, which the original does not have. */
const GREY_MEAN = [0.449];
const GREY_STD = [0.226];
/** The original's eval_crop_ratio. */
const CROP_RATIO = 0.875;
/** Up to this size the original takes images as they are; here they are brought to size. */
const SMALL = 32;

/**
 * What the original does when it evaluates: shorter side to imgSize / 0.875, bicubic, and the middle of it. Small
 * models take the whole image. Throws an InputError when images have no such channels.
 */
export function defaultPreprocess(imgSize: number, channels: number): Preprocess {
  if (channels !== 1 && channels !== 3) {
    throw new InputError(
      `The model takes ${channels} channels, and an image gives 1 (grey) or 3 (RGB). ` +
        'Give the input as .npy or safetensors of shape (C, H, W).',
    );
  }
  const grey = channels === 1;
  return {
    resize: imgSize > SMALL ? Math.trunc(imgSize / CROP_RATIO) : imgSize,
    crop: imgSize,
    interpolation: 'bicubic',
    mean: grey ? GREY_MEAN : IMAGENET_MEAN,
    std: grey ? GREY_STD : IMAGENET_STD,
    channels,
  };
}

/**
 * `preprocess` of a model file over the defaults; `null` for resize or crop turns it off. Throws an InputError
 * that names the wrong key.
 */
export function readPreprocess(given: Record<string, unknown>, defaults: Preprocess): Preprocess {
  const out: Preprocess = { ...defaults };
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (key === 'resize' || key === 'crop') out[key] = readSide(key, value);
    else if (key === 'interpolation') out.interpolation = readInterpolation(value);
    else if (key === 'mean' || key === 'std') out[key] = readPerChannel(key, value, defaults.channels);
    else
      throw new InputError(
        `"preprocess" has the key "${key}"; it takes resize, crop, interpolation, mean and std.`,
      );
  }
  return out;
}

function readSide(key: string, value: unknown): number | undefined {
  if (value === null || value === false) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 8192) return value;
  throw new InputError(
    `"${key}" of "preprocess" is ${show(value)}; it takes a size in pixels up to 8192, or null.`,
  );
}

function readInterpolation(value: unknown): Interpolation {
  if (value === 'nearest' || value === 'bilinear' || value === 'bicubic') return value;
  throw new InputError(`"interpolation" is ${show(value)}; it takes "bicubic", "bilinear" or "nearest".`);
}

function readPerChannel(key: string, value: unknown, channels: number): number[] {
  const all = typeof value === 'number' ? new Array<number>(channels).fill(value) : value;
  const fine = (x: unknown): x is number =>
    typeof x === 'number' && Number.isFinite(x) && (key === 'mean' || x > 0);
  if (Array.isArray(all) && all.length === channels && all.every(fine)) return all;
  throw new InputError(
    `"${key}" of "preprocess" is ${show(value)}; it takes ${channels === 1 ? 'a number' : `${channels} numbers`}` +
      `${key === 'std' ? ' above 0' : ''}.`,
  );
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 60) ?? String(value);
}

export interface Preprocessed {
  /** (1, C, H, W) */
  readonly tensor: Tensor;
  /** What was done, e.g. `resized to 341 x 256 (bicubic), centre 224 x 224, normalised`. */
  readonly steps: string[];
}

/** Applies the steps. The result's size depends on the image when `crop` is absent. */
export function preprocess(image: DecodedImage, p: Preprocess): Preprocessed {
  const steps = [...image.notes];
  let now: Image8 = p.channels === 1 ? toGrey(image) : toRgb(image);
  if (p.channels === 1 && image.channels === 3) steps.push('converted to grey');
  if (p.resize !== undefined) {
    const before = now;
    now = resizeShorterSide(now, p.resize, p.interpolation);
    if (now !== before) steps.push(`resized to ${now.width} x ${now.height} (${p.interpolation})`);
  }
  if (p.crop !== undefined && (now.width !== p.crop || now.height !== p.crop)) {
    const padded = now.width < p.crop || now.height < p.crop;
    now = centreCrop(now, p.crop);
    steps.push(`${padded ? 'padded and cut to' : 'centre'} ${p.crop} x ${p.crop}`);
  }
  steps.push(`normalised with mean ${p.mean.join(', ')} and std ${p.std.join(', ')}`);
  return { tensor: normalise(now, p.mean, p.std), steps };
}

/** torchvision's Resize(size): the longer side is cut down to a whole number. */
export function resizeShorterSide(image: Image8, side: number, interpolation: Interpolation): Image8 {
  const { width, height } = image;
  const longer = Math.trunc((side * Math.max(width, height)) / Math.min(width, height));
  if (longer > 65536)
    throw new InputError(
      `The image is ${width} x ${height}; its longer side would become ${longer}. Cut it first.`,
    );
  return width <= height
    ? resize(image, side, longer, interpolation)
    : resize(image, longer, side, interpolation);
}

/** torchvision's CenterCrop(size), with zeros around images that are smaller. */
export function centreCrop(image: Image8, side: number): Image8 {
  const { width, height, channels, data } = image;
  const left = cropStart(width, side);
  const top = cropStart(height, side);
  const out = new Uint8Array(side * side * channels);
  const columns = Math.min(width, side);
  for (let y = 0; y < Math.min(height, side); y++) {
    const from = ((y + Math.max(0, top)) * width + Math.max(0, left)) * channels;
    const to = ((y + Math.max(0, -top)) * side + Math.max(0, -left)) * channels;
    out.set(data.subarray(from, from + columns * channels), to);
  }
  return { width: side, height: side, channels, data: out };
}

/** First kept position; negative when the image is padded. Halves round as Python's round and // do. */
function cropStart(size: number, side: number): number {
  return size >= side ? roundHalfEven((size - side) / 2) : -Math.floor((side - size) / 2);
}

/** 8-bit values to (value / 255 - mean) / std in float32, planes in order: (1, C, H, W). */
function normalise(image: Image8, mean: readonly number[], std: readonly number[]): Tensor {
  const { width, height, channels, data } = image;
  const size = width * height;
  const out = new Float32Array(channels * size);
  for (let c = 0; c < channels; c++) {
    const table = Float32Array.from({ length: 256 }, (_, value) =>
      Math.fround(Math.fround(Math.fround(value / 255) - Math.fround(mean[c])) / Math.fround(std[c])),
    );
    for (let i = 0; i < size; i++) out[c * size + i] = table[data[i * channels + c]];
  }
  return new Tensor(out, [1, channels, height, width], undefined, 0, 'float32', ['B', 'C', 'H', 'W']);
}
