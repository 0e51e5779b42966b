/** One action per pickle opcode, for protocols 0 to 5. Extension registry and out-of-band buffers are left out. */
import type { Machine } from './pickle';
import { Dict, List, type PickleValue, Tuple } from './values';

type Action = (m: Machine) => void;

/** Longest integer in bytes; the largest in real files is the 10-byte magic of the old format. */
const MAX_INTEGER_BYTES = 256;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Actions by opcode byte; a missing one is not an opcode that a checkpoint may use. */
export const OPCODES: readonly (Action | undefined)[] = table({
  // Structure
  128: (m) => checkProtocol(m, m.reader.u8()),
  149: (m) => checkFrame(m, u64(m)),
  '(': (m) => m.mark(),
  '0': (m) => m.discard(),
  '1': (m) => void m.popMark(),
  '2': (m) => m.push(m.top()),

  // Constants and numbers
  N: (m) => m.push(null),
  136: (m) => m.push(true),
  137: (m) => m.push(false),
  I: (m) => m.push(intLine(m, m.reader.line())),
  L: (m) => m.push(longLine(m, m.reader.line())),
  F: (m) => m.push(Number(m.reader.line())),
  J: (m) => m.push(m.reader.view(4).getInt32(0, true)),
  K: (m) => m.push(m.reader.u8()),
  M: (m) => m.push(m.reader.view(2).getUint16(0, true)),
  G: (m) => m.push(m.reader.view(8).getFloat64(0, false)),
  138: (m) => m.push(long(m, m.reader.u8())),
  139: (m) => m.push(long(m, m.reader.view(4).getInt32(0, true))),

  // Text and bytes
  X: (m) => m.push(text(m, u32(m))),
  140: (m) => m.push(text(m, m.reader.u8())),
  141: (m) => m.push(text(m, u64(m))),
  V: (m) => m.push(m.reader.line()),
  S: (m) => m.push(quotedLine(m, m.reader.line())),
  T: (m) => m.push(latin1(m.reader.take(u32(m)))),
  U: (m) => m.push(latin1(m.reader.take(m.reader.u8()))),
  B: (m) => m.push(m.reader.take(u32(m)).slice()),
  C: (m) => m.push(m.reader.take(m.reader.u8()).slice()),
  142: (m) => m.push(m.reader.take(u64(m)).slice()),
  150: (m) => m.push(m.reader.take(u64(m)).slice()),

  // Containers
  ')': (m) => m.push(new Tuple([])),
  t: (m) => m.push(new Tuple(m.popMark())),
  133: (m) => m.popTuple(1),
  134: (m) => m.popTuple(2),
  135: (m) => m.popTuple(3),
  ']': (m) => m.push(new List()),
  l: (m) => pushList(m, m.popMark()),
  a: (m) => m.append([m.pop()]),
  e: (m) => m.append(m.popMark()),
  143: (m) => m.push(new List()), // EMPTY_SET
  144: (m) => m.append(m.popMark()),
  145: (m) => pushList(m, m.popMark()), // FROZENSET
  '}': (m) => m.push(new Dict()),
  d: (m) => pushDict(m, m.popMark()),
  s: (m) => m.setItems([m.pop(), m.pop()].reverse()),
  u: (m) => m.setItems(m.popMark()),

  // Memo
  p: (m) => m.remember(memoLine(m, m.reader.line())),
  q: (m) => m.remember(m.reader.u8()),
  r: (m) => m.remember(u32(m)),
  148: (m) => m.memoize(),
  g: (m) => m.recall(memoLine(m, m.reader.line())),
  h: (m) => m.recall(m.reader.u8()),
  j: (m) => m.recall(u32(m)),

  // Globals and calls: all go through the host's allow-list
  c: (m) => m.push(m.host.global(m.reader.line(), m.reader.line())),
  147: (m) => stackGlobal(m),
  i: (m) => inst(m),
  o: (m) => obj(m),
  R: (m) => reduce(m),
  129: (m) => reduce(m), // NEWOBJ
  146: (m) => newObjEx(m),
  b: (m) => m.build(),
  P: (m) => m.push(m.host.persistent(m.reader.line())),
  Q: (m) => m.push(m.host.persistent(m.pop())),
});

/** Keys are opcode bytes, or the ASCII characters that Python's documentation calls them by. */
function table(actions: Record<string | number, Action>): (Action | undefined)[] {
  const out = new Array<Action | undefined>(256);
  for (const [key, action] of Object.entries(actions))
    out[/^\d{2,}$/.test(key) ? Number(key) : key.charCodeAt(0)] = action;
  return out;
}

function u32(m: Machine): number {
  return m.reader.view(4).getUint32(0, true);
}

/** A 64-bit length; one that cannot be exact is larger than any file and fails the reader's check. */
function u64(m: Machine): number {
  return Number(m.reader.view(8).getBigUint64(0, true));
}

function checkProtocol(m: Machine, protocol: number): void {
  if (protocol > 5) throw m.damaged(`pickle protocol ${protocol} is not known`);
}

/** Frames only help buffering; the length is checked and the content read as it comes. */
function checkFrame(m: Machine, length: number): void {
  if (length > m.reader.left) throw m.damaged('a frame is longer than the file');
}

function text(m: Machine, length: number): string {
  const bytes = m.reader.take(length);
  try {
    return utf8.decode(bytes);
  } catch {
    throw m.damaged('a string is not UTF-8');
  }
}

function latin1(bytes: Uint8Array): string {
  let out = '';
  for (const byte of bytes) out += String.fromCharCode(byte);
  return out;
}

function intLine(m: Machine, line: string): PickleValue {
  if (line === '00' || line === '01') return line === '01';
  return longLine(m, line);
}

function longLine(m: Machine, line: string): PickleValue {
  if (!/^\s*[+-]?\d{1,600}L?\s*$/.test(line)) throw m.damaged('an integer is not written in digits');
  return narrow(BigInt(line.replace('L', '').replace('+', '').trim()));
}

/** A little-endian two's complement integer of `length` bytes. */
function long(m: Machine, length: number): PickleValue {
  if (length < 0 || length > MAX_INTEGER_BYTES) throw m.damaged(`an integer has ${length} bytes`);
  let value = 0n;
  const bytes = m.reader.take(length);
  for (let i = length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i]);
  return narrow(BigInt.asIntN(8 * length, value));
}

function narrow(value: bigint): number | bigint {
  const n = Number(value);
  return Number.isSafeInteger(n) ? n : value;
}

function quotedLine(m: Machine, line: string): string {
  const quote = line[0];
  if (line.length < 2 || (quote !== "'" && quote !== '"') || !line.endsWith(quote))
    throw m.damaged('a string lacks its quotes');
  return line.slice(1, -1);
}

function memoLine(m: Machine, line: string): number {
  if (!/^\d{1,10}$/.test(line)) throw m.damaged('a memo index is not a number');
  return Number(line);
}

function pushList(m: Machine, items: readonly PickleValue[]): void {
  m.push(new List());
  m.append(items);
}

function pushDict(m: Machine, flat: readonly PickleValue[]): void {
  m.push(new Dict());
  m.setItems(flat);
}

function stackGlobal(m: Machine): void {
  const name = m.popString();
  m.push(m.host.global(m.popString(), name));
}

/** INST: module and name as lines, arguments since the MARK. */
function inst(m: Machine): void {
  const callee = m.host.global(m.reader.line(), m.reader.line());
  m.call(callee, new Tuple(m.popMark()));
}

/** OBJ: class and arguments since the MARK. */
function obj(m: Machine): void {
  const [callee, ...args] = m.popMark();
  if (callee === undefined) throw m.damaged('an object has no class');
  m.call(callee, new Tuple(args));
}

function reduce(m: Machine): void {
  const args = m.pop();
  m.call(m.pop(), args);
}

/** NEWOBJ_EX: keyword arguments matter to no value that is built here. */
function newObjEx(m: Machine): void {
  m.pop();
  reduce(m);
}
