/**
 * A restricted unpickler: it runs the stack machine of Python's pickle protocols 0 to 5
 * (https://docs.python.org/3/library/pickletools.html), but builds only the values of `values.ts`. It imports and
 * calls nothing; which globals exist and what "calling" one builds is the host's allow-list.
 */
import { CheckpointError } from '../errors';
import { OPCODES } from './opcodes';
import type { ByteReader } from './reader';
import { Dict, Inert, kindOf, List, type PickleValue, Tuple } from './values';

/** Steps of one pickle; a checkpoint needs about twenty per tensor. Bounds the memory that a hostile one takes. */
const MAX_STEPS = 4_000_000;

const STOP = 0x2e;

export interface PickleHost {
  /** The global on the allow-list, else a CheckpointError that names it. */
  global(module: string, name: string): PickleValue;
  /** What calling `callee` with `args` builds. */
  call(callee: PickleValue, args: PickleValue): PickleValue;
  /** What a persistent id stands for: a storage. */
  persistent(id: PickleValue): PickleValue;
}

/** Reads one pickle from the reader's position up to and including its STOP. */
export function unpickle(reader: ByteReader, host: PickleHost): PickleValue {
  return new Machine(reader, host).run();
}

export class Machine {
  private readonly stack: PickleValue[] = [];
  /** Stack heights at each open MARK. */
  private readonly marks: number[] = [];
  private readonly memo = new Map<number, PickleValue>();

  constructor(
    readonly reader: ByteReader,
    readonly host: PickleHost,
  ) {}

  run(): PickleValue {
    for (let step = 0; step < MAX_STEPS; step++) {
      const code = this.reader.u8();
      if (code === STOP) return this.pop();
      const action = OPCODES[code];
      if (!action) throw this.damaged(`opcode 0x${code.toString(16).padStart(2, '0')} is not one of pickle`);
      action(this);
    }
    throw new CheckpointError(
      `${this.reader.source.name} holds a pickle of more than ${MAX_STEPS / 1e6} million steps, far more than ` +
        'weights need. Save only model.state_dict(), best as safetensors.',
    );
  }

  push(value: PickleValue): void {
    this.stack.push(value);
  }

  pop(): PickleValue {
    const value = this.stack.length > (this.marks.at(-1) ?? 0) ? this.stack.pop() : undefined;
    if (value === undefined) throw this.damaged('a value is taken from an empty stack');
    return value;
  }

  top(): PickleValue {
    const value = this.pop();
    this.stack.push(value);
    return value;
  }

  mark(): void {
    this.marks.push(this.stack.length);
  }

  /** Everything above the last MARK, which goes away. */
  popMark(): PickleValue[] {
    const height = this.marks.pop();
    if (height === undefined) throw this.damaged('a MARK is missing');
    return this.stack.splice(height);
  }

  /** POP, which may also take away a MARK. */
  discard(): void {
    if (this.marks.length > 0 && this.marks.at(-1) === this.stack.length) this.marks.pop();
    else this.pop();
  }

  remember(slot: number): void {
    this.memo.set(slot, this.top());
  }

  memoize(): void {
    this.remember(this.memo.size);
  }

  recall(slot: number): void {
    const value = this.memo.get(slot);
    if (value === undefined) throw this.damaged(`memo ${slot} is used before it is set`);
    this.push(value);
  }

  append(items: readonly PickleValue[]): void {
    const target = this.top();
    if (target instanceof Inert) return;
    if (!(target instanceof List)) throw this.damaged(`items are appended to ${kindOf(target)}`);
    for (const item of items) target.items.push(item);
  }

  /** Adds key, value, key, value ... to the dict on top. */
  setItems(flat: readonly PickleValue[]): void {
    const target = this.top();
    if (flat.length % 2 !== 0) throw this.damaged('a key has no value');
    if (target instanceof Inert) return;
    if (!(target instanceof Dict)) throw this.damaged(`keys are set in ${kindOf(target)}`);
    for (let i = 0; i < flat.length; i += 2) target.set(flat[i], flat[i + 1]);
  }

  /** BUILD: state of a dict (`_metadata` of a state_dict) and of inert objects is dropped. */
  build(): void {
    this.pop();
    const target = this.top();
    if (!(target instanceof Dict || target instanceof Inert))
      throw this.damaged(`a state is set on ${kindOf(target)}`);
  }

  call(callee: PickleValue, args: PickleValue): void {
    this.push(this.host.call(callee, args));
  }

  /** The string on top, for STACK_GLOBAL. */
  popString(): string {
    const value = this.pop();
    if (typeof value !== 'string') throw this.damaged(`a name is ${kindOf(value)}`);
    return value;
  }

  damaged(what: string): CheckpointError {
    return new CheckpointError(
      `${this.reader.source.name} is damaged: ${what}, at byte ${this.reader.position} of its pickle. ` +
        'Copy or download it again.',
    );
  }

  popTuple(length: number): void {
    const items: PickleValue[] = [];
    for (let i = 0; i < length; i++) items.unshift(this.pop());
    this.push(new Tuple(items));
  }
}
