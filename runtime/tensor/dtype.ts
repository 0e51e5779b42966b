/** Element types that checkpoints and inputs use. The embedded runtime computes in float32. */
export type DType =
  | 'float64'
  | 'float32'
  | 'float16'
  | 'bfloat16'
  | 'int64'
  | 'int32'
  | 'int16'
  | 'int8'
  | 'uint8'
  | 'bool';

export const BYTES: Record<DType, number> = {
  float64: 8,
  float32: 4,
  float16: 2,
  bfloat16: 2,
  int64: 8,
  int32: 4,
  int16: 2,
  int8: 1,
  uint8: 1,
  bool: 1,
};

const scratch = new DataView(new ArrayBuffer(4));

/** IEEE binary16 bits to a number. */
export function float16ToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** bfloat16 bits (the upper half of a float32) to a number. */
export function bfloat16ToNumber(bits: number): number {
  scratch.setUint32(0, bits << 16);
  return scratch.getFloat32(0);
}

/**
 * Little-endian bytes of `count` elements as float32. Values outside float32 become infinite as in PyTorch's
 * `.float()`. Zero-copy for aligned float32.
 */
export function toFloat32(dtype: DType, bytes: Uint8Array, count: number): Float32Array {
  if (bytes.byteLength < count * BYTES[dtype])
    throw new RangeError(`${count} elements of ${dtype} need more bytes than ${bytes.byteLength}.`);
  if (dtype === 'float32' && bytes.byteOffset % 4 === 0)
    return new Float32Array(bytes.buffer, bytes.byteOffset, count);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = READERS[dtype];
  const size = BYTES[dtype];
  const out = new Float32Array(count);
  for (let i = 0; i < count; i++) out[i] = read(view, i * size);
  return out;
}

const READERS: Record<DType, (view: DataView, at: number) => number> = {
  float64: (v, at) => v.getFloat64(at, true),
  float32: (v, at) => v.getFloat32(at, true),
  float16: (v, at) => float16ToNumber(v.getUint16(at, true)),
  bfloat16: (v, at) => bfloat16ToNumber(v.getUint16(at, true)),
  int64: (v, at) => Number(v.getBigInt64(at, true)),
  int32: (v, at) => v.getInt32(at, true),
  int16: (v, at) => v.getInt16(at, true),
  int8: (v, at) => v.getInt8(at),
  uint8: (v, at) => v.getUint8(at),
  bool: (v, at) => (v.getUint8(at) ? 1 : 0),
};
