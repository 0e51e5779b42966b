import type { Layout } from '../tensor/tensor';

/** Where a value's storage comes from. */
export type Origin = 'input' | 'parameter' | 'op';

/** A tensor of a program: its shape and place in storage are known before anything runs. */
export class Value implements Layout {
  constructor(
    readonly id: number,
    readonly name: string,
    readonly origin: Origin,
    /** Storage; views share it with the value that they look at. */
    readonly storage: number,
    readonly layout: Layout,
    /** Named axes as far as known, e.g. `['B', 'D', 'L']`. */
    readonly axes: readonly string[] = [],
  ) {}

  get shape(): readonly number[] {
    return this.layout.shape;
  }

  get strides(): readonly number[] {
    return this.layout.strides;
  }

  get offset(): number {
    return this.layout.offset;
  }
}
