/** Arithmetic element by element. */
import { binary, unary, Walk } from './rows';

@unmanaged
class Copy {
  // @ts-ignore: decorator
  @inline
  apply(x: v128): v128 {
    return x;
  }
}

@unmanaged
class Neg {
  // @ts-ignore: decorator
  @inline
  apply(x: v128): v128 {
    return f32x4.neg(x);
  }
}

@unmanaged
class Scale extends Walk {
  // @ts-ignore: decorator
  @inline
  apply(x: v128): v128 {
    return f32x4.mul(x, f32x4.splat(this.by));
  }
}

@unmanaged
class Add {
  // @ts-ignore: decorator
  @inline
  apply(a: v128, b: v128): v128 {
    return f32x4.add(a, b);
  }
}

@unmanaged
class Mul {
  // @ts-ignore: decorator
  @inline
  apply(a: v128, b: v128): v128 {
    return f32x4.mul(a, b);
  }
}

/** y = x */
export function copy(args: usize, from: i32, to: i32, scratch: usize): void {
  unary<Copy>(args, from, to, scratch);
}

/** y = -x */
export function neg(args: usize, from: i32, to: i32, scratch: usize): void {
  unary<Neg>(args, from, to, scratch);
}

/** y = x by */
export function scale(args: usize, from: i32, to: i32, scratch: usize): void {
  unary<Scale>(args, from, to, scratch);
}

/** y = a + b */
export function add(args: usize, from: i32, to: i32, scratch: usize): void {
  binary<Add>(args, from, to, scratch);
}

/** y = a b */
export function mul(args: usize, from: i32, to: i32, scratch: usize): void {
  binary<Mul>(args, from, to, scratch);
}
