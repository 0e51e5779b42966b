import { madd, sumLanes } from './simd';

/**
 * The ceiling of 128-bit SIMD on this core: each item is twelve independent multiply-adds that touch no memory,
 * fused where the build has it. `scratch` takes a float, so that the work is not left out.
 */
export function peak(args: usize, from: i32, to: i32, scratch: usize): void {
  const x = v128.load32_splat(args);
  let a = x;
  let b = x;
  let c = x;
  let d = x;
  let e = x;
  let f = x;
  let g = x;
  let h = x;
  let i = x;
  let j = x;
  let k = x;
  let l = x;
  for (let n = from; n < to; n++) {
    a = madd(a, x, x);
    b = madd(b, x, x);
    c = madd(c, x, x);
    d = madd(d, x, x);
    e = madd(e, x, x);
    f = madd(f, x, x);
    g = madd(g, x, x);
    h = madd(h, x, x);
    i = madd(i, x, x);
    j = madd(j, x, x);
    k = madd(k, x, x);
    l = madd(l, x, x);
  }
  const abcdef = f32x4.add(f32x4.add(a, b), f32x4.add(f32x4.add(c, d), f32x4.add(e, f)));
  const ghijkl = f32x4.add(f32x4.add(g, h), f32x4.add(f32x4.add(i, j), f32x4.add(k, l)));
  store<f32>(scratch, sumLanes(f32x4.add(abcdef, ghijkl)));
}
