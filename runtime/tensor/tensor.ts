import type { DType } from './dtype';

/** Strides of a row-major tensor, in elements. */
export function rowMajor(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length);
  let step = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

export function numel(shape: readonly number[]): number {
  return shape.reduce((n, size) => n * size, 1);
}

/** How a view lies in its storage. Strides may be negative (a flipped axis) or 0 (an expanded one). */
export interface Layout {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
}

export function contiguousLayout(shape: readonly number[]): Layout {
  return { shape, strides: rowMajor(shape), offset: 0 };
}

/** True when the elements lie row-major without gaps; axes of size 1 do not matter, as in PyTorch. */
export function isContiguous(layout: Layout): boolean {
  const expected = rowMajor(layout.shape);
  return layout.shape.every((size, axis) => size <= 1 || layout.strides[axis] === expected[axis]);
}

/** Views of a layout; none of them moves data. */
export const view = {
  transpose(l: Layout, a: number, b: number): Layout {
    const shape = [...l.shape];
    const strides = [...l.strides];
    [shape[a], shape[b]] = [shape[b], shape[a]];
    [strides[a], strides[b]] = [strides[b], strides[a]];
    return { shape, strides, offset: l.offset };
  },
  /** Elements `start` .. `end - 1` of one axis. */
  slice(l: Layout, axis: number, start: number, end: number): Layout {
    const shape = [...l.shape];
    shape[axis] = end - start;
    return { shape, strides: l.strides, offset: l.offset + start * l.strides[axis] };
  },
  /** One element of an axis; the axis goes away. */
  select(l: Layout, axis: number, index: number): Layout {
    const drop = (xs: readonly number[]) => xs.filter((_, i) => i !== axis);
    return { shape: drop(l.shape), strides: drop(l.strides), offset: l.offset + index * l.strides[axis] };
  },
  flip(l: Layout, axis: number): Layout {
    if (l.shape[axis] === 0) return l;
    const strides = [...l.strides];
    strides[axis] = -strides[axis];
    return { shape: l.shape, strides, offset: l.offset + (l.shape[axis] - 1) * l.strides[axis] };
  },
};

/**
 * A strided view of float32 storage with a name and named axes. `dtype` is the type that the values had where
 * they come from; they are held as float32 (float64 and int64 inputs lose precision only outside its range).
 */
export class Tensor implements Layout {
  constructor(
    readonly data: Float32Array,
    readonly shape: readonly number[],
    readonly strides: readonly number[] = rowMajor(shape),
    readonly offset = 0,
    readonly dtype: DType = 'float32',
    readonly axes: readonly string[] = [],
  ) {}

  static of(layout: Layout, data: Float32Array, axes: readonly string[] = []): Tensor {
    return new Tensor(data, layout.shape, layout.strides, layout.offset, 'float32', axes);
  }

  static scalar(x: number): Tensor {
    return new Tensor(Float32Array.of(x), []);
  }

  get numel(): number {
    return numel(this.shape);
  }

  get rank(): number {
    return this.shape.length;
  }

  get contiguous(): boolean {
    return isContiguous(this);
  }

  at(...index: number[]): number {
    return this.data[this.offset + index.reduce((at, i, axis) => at + i * this.strides[axis], 0)];
  }

  with(layout: Layout, axes: readonly string[] = []): Tensor {
    return new Tensor(this.data, layout.shape, layout.strides, layout.offset, this.dtype, axes);
  }

  /** Calls `visit` with each run of the innermost axis: storage position of its first element, step, length. */
  forEachRow(visit: (at: number, step: number, length: number) => void): void {
    if (this.numel === 0) return;
    if (this.contiguous) {
      visit(this.offset, 1, this.numel);
      return;
    }
    const inner = this.rank - 1;
    const index = new Array<number>(inner).fill(0);
    let at = this.offset;
    for (;;) {
      visit(at, this.strides[inner], this.shape[inner]);
      let axis = inner - 1;
      for (; axis >= 0; axis--) {
        at += this.strides[axis];
        if (++index[axis] < this.shape[axis]) break;
        at -= this.strides[axis] * this.shape[axis];
        index[axis] = 0;
      }
      if (axis < 0) return;
    }
  }

  /** The elements in row-major order: the storage itself when contiguous and whole, else a copy. */
  toArray(): Float32Array {
    if (this.contiguous) return this.data.subarray(this.offset, this.offset + this.numel);
    const out = new Float32Array(this.numel);
    let k = 0;
    this.forEachRow((at, step, length) => {
      for (let i = 0; i < length; i++, at += step) out[k++] = this.data[at];
    });
    return out;
  }

  /** Row-major position `k` to one index per axis. */
  indexOf(k: number): number[] {
    const index = new Array<number>(this.rank);
    for (let axis = this.rank - 1; axis >= 0; axis--) {
      index[axis] = k % this.shape[axis];
      k = Math.floor(k / this.shape[axis]);
    }
    return index;
  }
}
