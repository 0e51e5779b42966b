import { BYTES, type DType } from '../tensor/dtype';

/** Values as little-endian bytes of `dtype`, rounded to nearest even where the type is narrower. */
export function encodeValues(dtype: DType, values: Float32Array): Uint8Array {
  const size = BYTES[dtype];
  const out = new Uint8Array(values.length * size);
  const view = new DataView(out.buffer);
  const write = WRITERS[dtype];
  for (let i = 0; i < values.length; i++) write(view, i * size, values[i]);
  return out;
}

const WRITERS: Record<DType, (view: DataView, at: number, x: number) => void> = {
  float64: (v, at, x) => v.setFloat64(at, x, true),
  float32: (v, at, x) => v.setFloat32(at, x, true),
  float16: (v, at, x) => v.setUint16(at, toFloat16Bits(x), true),
  bfloat16: (v, at, x) => v.setUint16(at, toBfloat16Bits(x), true),
  int64: (v, at, x) => v.setBigInt64(at, Number.isFinite(x) ? BigInt(Math.trunc(x)) : 0n, true),
  int32: (v, at, x) => v.setInt32(at, x, true),
  int16: (v, at, x) => v.setInt16(at, x, true),
  int8: (v, at, x) => v.setInt8(at, x),
  uint8: (v, at, x) => v.setUint8(at, x),
  bool: (v, at, x) => v.setUint8(at, x === 0 ? 0 : 1),
};

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

function bitsOf(x: number): number {
  float[0] = x;
  return bits[0];
}

/** IEEE binary16 bits of a float32 value. */
export function toFloat16Bits(x: number): number {
  const all = bitsOf(x);
  const sign = (all >>> 16) & 0x8000;
  const magnitude = all & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00; // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // 65520 and above round to Inf
  if (magnitude < 0x38800000) return sign | roundHalfEven(Math.abs(float[0]) * 2 ** 24); // subnormal
  return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
}

/** The upper half of a float32, rounded. */
export function toBfloat16Bits(x: number): number {
  const all = bitsOf(x);
  if ((all & 0x7fffffff) > 0x7f800000) return ((all >>> 16) & 0x8000) | 0x7fc0;
  return ((all + 0x7fff + ((all >>> 16) & 1)) >>> 16) & 0xffff;
}

/** Rounds to the nearest whole number, ties to the even one. */
export function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  if (rest !== 0.5) return Math.round(x);
  return floor % 2 === 0 ? floor : floor + 1;
}
