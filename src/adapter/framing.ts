/** DAP's framing: `Content-Length: N`, an empty line, N bytes of JSON. */

/** A message larger than this is dropped: no view can show it, and it would fill the memory. */
const LARGEST = 64 * 2 ** 20;
/** A header longer than this is no header. */
const LONGEST_HEADER = 2 ** 16;
/** How much of a lost message is kept, to find out which request it answers. */
const HEAD = 1024;

const SEPARATOR = '\r\n\r\n';

export interface ReaderEvents {
  message(message: unknown): void;
  /** A message was too large or no JSON; `head` is how it starts. */
  lost(head: string, why: string): void;
}

/** Cuts a stream of bytes into messages. Goes on after whatever is not understood. */
export class MessageReader {
  private chunks: Buffer[] = [];
  private size = 0;
  /** Length of the body that is being read; none between messages. */
  private body?: number;
  /** Bytes still to drop, and the beginning of what is dropped. */
  private dropping = 0;
  private droppedHead = '';

  constructor(
    private readonly events: ReaderEvents,
    private readonly largest = LARGEST,
  ) {}

  read(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    while (this.step());
  }

  /** Takes one header or one body out of what has come; false when more has to come first. */
  private step(): boolean {
    if (this.dropping > 0) return this.drop();
    return this.body === undefined ? this.readHeader() : this.readBody(this.body);
  }

  private readHeader(): boolean {
    const all = this.whole();
    const end = all.indexOf(SEPARATOR);
    if (end < 0) {
      if (this.size > LONGEST_HEADER) this.take(this.size - SEPARATOR.length);
      return false;
    }
    const header = this.take(end + SEPARATOR.length).toString('latin1');
    const length = /content-length:\s*(\d+)/i.exec(header)?.[1];
    if (length === undefined) return true;
    if (Number(length) > this.largest) {
      this.dropping = Number(length);
      this.droppedHead = '';
    } else this.body = Number(length);
    return true;
  }

  private readBody(length: number): boolean {
    if (this.size < length) return false;
    this.body = undefined;
    const json = this.take(length).toString('utf8');
    const message = parse(json);
    if (message === undefined) this.events.lost(json.slice(0, HEAD), 'it was no JSON');
    else this.events.message(message);
    return true;
  }

  private drop(): boolean {
    if (this.size === 0) return false;
    const part = this.take(Math.min(this.dropping, this.size));
    this.dropping -= part.length;
    if (this.droppedHead.length < HEAD) this.droppedHead += part.toString('latin1', 0, HEAD);
    if (this.dropping === 0) this.events.lost(this.droppedHead, 'it was too large');
    return true;
  }

  private whole(): Buffer {
    if (this.chunks.length > 1) this.chunks = [Buffer.concat(this.chunks)];
    return this.chunks[0] ?? Buffer.alloc(0);
  }

  private take(length: number): Buffer {
    const all = this.whole();
    this.chunks = length < all.length ? [all.subarray(length)] : [];
    this.size -= length;
    return all.subarray(0, length);
  }
}

/** The frame of a message. */
export function frame(message: unknown): string {
  const json = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(json)}${SEPARATOR}${json}`;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
