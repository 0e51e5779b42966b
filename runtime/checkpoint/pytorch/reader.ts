import { CheckpointError } from '../errors';
import type { ByteSource } from '../source';

const CHUNK = 1 << 16;
const MAX_LINE = 1 << 14;

/** Reads a source forward in chunks; every length is checked against what is left before it is read. */
export class ByteReader {
  private chunk: Uint8Array = new Uint8Array(0);
  private chunkAt: number;

  constructor(
    readonly source: ByteSource,
    private at = 0,
    private readonly end = source.size,
  ) {
    this.chunkAt = at;
  }

  get position(): number {
    return this.at;
  }

  get left(): number {
    return this.end - this.at;
  }

  u8(): number {
    let i = this.at - this.chunkAt;
    if (i >= this.chunk.length) {
      this.require(1);
      this.fill();
      i = 0;
    }
    this.at++;
    return this.chunk[i];
  }

  take(length: number): Uint8Array {
    this.require(length);
    const i = this.at - this.chunkAt;
    const bytes =
      i + length <= this.chunk.length
        ? this.chunk.subarray(i, i + length)
        : this.source.read(this.at, length);
    this.at += length;
    return bytes;
  }

  view(length: number): DataView {
    const bytes = this.take(length);
    return new DataView(bytes.buffer, bytes.byteOffset, length);
  }

  skip(length: number): void {
    this.require(length);
    this.at += length;
  }

  /** Text up to the next newline, without it. */
  line(): string {
    const codes: number[] = [];
    for (let byte = this.u8(); byte !== 0x0a; byte = this.u8()) {
      if (codes.length >= MAX_LINE)
        throw new CheckpointError(`${this.source.name} is damaged: a line has no end.`);
      codes.push(byte);
    }
    return String.fromCharCode(...codes);
  }

  private require(length: number): void {
    if (length <= this.left) return;
    throw new CheckpointError(
      `${this.source.name} is cut short or damaged: its pickle ends within a value. Copy or download it again.`,
    );
  }

  private fill(): void {
    this.chunkAt = this.at;
    this.chunk = this.source.read(this.at, Math.min(CHUNK, this.left));
  }
}
