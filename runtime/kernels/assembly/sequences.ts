import { copyRow } from './simd';

/** A tensor (B, D, L), at any steps. Address 0 where it is absent. */
@unmanaged
export class Sequences {
  address: usize;
  batchStep: isize;
  rowStep: isize;
  step: isize;

  // @ts-ignore: decorator
  @inline
  at(batch: i32, row: i32, t: i32): usize {
    return this.address + this.batchStep * batch + this.rowStep * row + this.step * t;
  }

  /** Contiguous elements t to t + count of a row: those of the tensor, or a copy; 0 where it is absent. */
  row(batch: i32, row: i32, t: i32, count: i32, copy: usize): usize {
    if (!this.address) return 0;
    const at = this.at(batch, row, t);
    if (this.step == 4) return at;
    copyRow(at, this.step, copy, 4, count);
    return copy;
  }

  /** Where elements of a row can be written contiguously; `write` then brings them to the tensor. */
  target(batch: i32, row: i32, t: i32, copy: usize): usize {
    return this.step == 4 && this.address ? this.at(batch, row, t) : copy;
  }

  write(batch: i32, row: i32, t: i32, count: i32, target: usize): void {
    if (this.step != 4 && this.address) copyRow(target, 4, this.at(batch, row, t), this.step, count);
  }
}

/** One tensor of the arguments; their sequences come first. */
// @ts-ignore: decorator
@inline
export function sequences(args: usize, index: i32): Sequences {
  return changetype<Sequences>(args + (index << 4));
}
