/** NumPy's `.npy` files, versions 1 to 3 (numpy.lib.format): magic, version, header length, a dict, the values. */
import { formatCount } from '../../src/protocol/numbers';
import { BYTES, type DType, toFloat32 } from '../tensor/dtype';
import { rowMajor, Tensor } from '../tensor/tensor';
import { encodeValues } from './encode';
import { InputError } from './errors';
import { countElements, formatShape, isCount, quoteName } from './record';
import { aligned, type ByteSource, dataView } from './source';

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
const MAX_HEADER = 1 << 20;
const MAX_RANK = 32;

const DTYPES: Record<string, DType> = {
  f8: 'float64',
  f4: 'float32',
  f2: 'float16',
  i8: 'int64',
  i4: 'int32',
  i2: 'int16',
  i1: 'int8',
  u1: 'uint8',
  b1: 'bool',
};

interface Header {
  readonly dtype: DType;
  readonly bigEndian: boolean;
  readonly fortran: boolean;
  readonly shape: number[];
  readonly dataAt: number;
}

export function looksLikeNpy(source: ByteSource): boolean {
  return source.size >= 6 && source.read(0, 6).every((byte, i) => byte === MAGIC[i]);
}

/**
 * Reads an array of any shape; Fortran order becomes column-major strides, big-endian values are swapped.
 * Throws an InputError for a damaged file or an element type that is not a plain number.
 */
export function readNpy(source: ByteSource): Tensor {
  const { dtype, bigEndian, fortran, shape, dataAt } = readHeader(source);
  const count = countElements(shape);
  const needed = count * BYTES[dtype];
  if (dataAt + needed > source.size) {
    throw new InputError(
      `${source.name} is cut short: ${dtype} ${formatShape(shape)} needs ${formatCount(needed)} bytes, ` +
        `but ${formatCount(source.size - dataAt)} follow the header. Copy or save it again.`,
    );
  }
  let bytes = source.read(dataAt, needed);
  if (bigEndian) bytes = swapped(bytes, BYTES[dtype]);
  const strides = fortran ? rowMajor([...shape].reverse()).reverse() : rowMajor(shape);
  return new Tensor(toFloat32(dtype, aligned(bytes), count), shape, strides, 0, dtype);
}

/** The tensor's values as a float32 `.npy` in C order. */
export function writeNpy(tensor: Tensor): Uint8Array {
  const shape = tensor.shape.length === 1 ? `(${tensor.shape[0]},)` : `(${tensor.shape.join(', ')})`;
  const dict = `{'descr': '<f4', 'fortran_order': False, 'shape': ${shape}, }`;
  const headerSize = Math.ceil((10 + dict.length + 1) / 64) * 64 - 10;
  const values = encodeValues('float32', tensor.toArray());
  const out = new Uint8Array(10 + headerSize + values.length);
  out.set([...MAGIC, 1, 0]);
  dataView(out).setUint16(8, headerSize, true);
  out.set(new TextEncoder().encode(`${dict.padEnd(headerSize - 1)}\n`), 10);
  out.set(values, 10 + headerSize);
  return out;
}

function readHeader(source: ByteSource): Header {
  if (!looksLikeNpy(source)) throw damaged(source, 'it does not start with the magic \\x93NUMPY');
  if (source.size < 12) throw damaged(source, 'it ends within the header');
  const start = dataView(source.read(0, 12));
  const version = start.getUint8(6);
  if (version < 1 || version > 3) throw damaged(source, `its version ${version} is not 1, 2 or 3`);
  const headerAt = version === 1 ? 10 : 12;
  const length = version === 1 ? start.getUint16(8, true) : start.getUint32(8, true);
  if (length > MAX_HEADER || headerAt + length > source.size)
    throw damaged(source, `its header of ${formatCount(length)} bytes does not fit`);
  const text = new TextDecoder('latin1').decode(source.read(headerAt, length));
  return { ...parseHeader(source, text), dataAt: headerAt + length };
}

function parseHeader(source: ByteSource, text: string): Omit<Header, 'dataAt'> {
  const order = /'fortran_order'\s*:\s*(True|False)/.exec(text);
  const sizes = /'shape'\s*:\s*\(([\d\s,L]*)\)/.exec(text);
  const descr = /'descr'\s*:\s*'([^']*)'/.exec(text);
  if (!order || !sizes || !text.includes("'descr'"))
    throw damaged(source, 'its header lacks descr, fortran_order or shape');
  const shape = sizes[1]
    .split(',')
    .map((word) => word.trim().replace(/L$/, ''))
    .filter((word) => word !== '')
    .map(Number);
  if (shape.length > MAX_RANK || !shape.every(isCount))
    throw damaged(source, 'its shape is not a tuple of sizes');
  return { ...parseDescr(source, descr?.[1]), fortran: order[1] === 'True', shape };
}

function parseDescr(source: ByteSource, descr: string | undefined): { dtype: DType; bigEndian: boolean } {
  const match = /^([<>|=]?)([a-z]\d+)$/.exec(descr ?? '');
  if (!match || !Object.hasOwn(DTYPES, match[2])) {
    const what = descr === undefined ? 'records' : `elements of type ${quoteName(descr)}`;
    throw new InputError(
      `${source.name} holds ${what}, which Scanpoint does not read. Save it with .astype("float32").`,
    );
  }
  return { dtype: DTYPES[match[2]], bigEndian: match[1] === '>' };
}

function swapped(bytes: Uint8Array, size: number): Uint8Array {
  const out = bytes.slice();
  for (let at = 0; at < out.length; at += size) out.subarray(at, at + size).reverse();
  return out;
}

function damaged(source: ByteSource, what: string): InputError {
  return new InputError(`${source.name} is not a sound .npy file: ${what}. Save it again with numpy.save.`);
}
