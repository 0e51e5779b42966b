import { UserError } from '../errors';

/** debugpy counts frames and variables from 1; ours start here, within 31 bits. */
const FIRST = 2 ** 30;

/** Where names start: at a value that debugpy knows by a number, or at a tensor of the agent's. */
export type Root = { reference: number } | { id: string };

/** What one of our numbers in the Variables view stands for. */
export type Handle =
  /** A scope of the agent's in a frame. */
  | { kind: 'entries'; id: string }
  /** Something that names lead to. */
  | { kind: 'children'; root: Root; names: string[] };

/** True for a number that we gave, not debugpy. */
export const isOurs = (reference: number): boolean => reference >= FIRST;

/** Numbers for our containers and frames, apart from debugpy's. The same thing keeps its number for a stop. */
export class OwnReferences {
  private readonly numbers = new Map<string, number>();
  private readonly handles = new Map<number, Handle>();
  /** The first is kept for the frame of an open scan. */
  private next = FIRST + 1;

  numberOf(handle: Handle): number {
    const key = JSON.stringify(handle);
    let number = this.numbers.get(key);
    if (number === undefined) {
      number = this.next++;
      this.numbers.set(key, number);
      this.handles.set(number, handle);
    }
    return number;
  }

  /** Forgets all; no number comes again. */
  clear(): void {
    this.numbers.clear();
    this.handles.clear();
  }

  handleOf(number: number): Handle {
    const handle = this.handles.get(number);
    if (handle) return handle;
    throw new UserError('That variable belongs to a stop that is over.');
  }
}

/** The id of the frame that stands for the time step of an open scan. */
export const SCAN_FRAME = FIRST;
