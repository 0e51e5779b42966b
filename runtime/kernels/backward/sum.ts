import { type Layout, numel, Tensor, view } from '../../tensor/tensor';
import { add, copy, expand } from '../elementwise';
import { native } from '../native';
import { sumOver } from '../native/reduction';

/** Parts of a sum that belong in the same place. */
interface Group {
  readonly place: Layout;
  readonly parts: Tensor[];
}

/** sum = 0, then sum[place] += part for each part; `places` lie in the storage of `sum`. */
export function sumParts(parts: readonly Tensor[], places: readonly Layout[], sum: Tensor): void {
  const groups = groupByPlace(parts, places);
  // Into a place that nothing was added to yet the first parts are written, so that it need not be cleared.
  const open = groups.map(({ place }, i) => groups.slice(0, i).every((other) => apart(place, other.place)));
  const written = groups.reduce((n, { place }, i) => (open[i] ? n + numel(place.shape) : n), 0);
  if (written < sum.data.length) sum.data.fill(0);
  groups.forEach((group, i) => {
    addGroup(group.parts, sum.with(group.place), open[i]);
  });
}

function addGroup(parts: readonly Tensor[], to: Tensor, open: boolean): void {
  const [first, second] = parts;
  if (open && second) add(first, second, to);
  else if (open) copy(first, to);
  for (const part of parts.slice(open ? 2 : 0)) add(to, part, to);
}

/** Parts that differ only in how their axes are flipped go together. */
function groupByPlace(parts: readonly Tensor[], places: readonly Layout[]): Group[] {
  const groups: Group[] = [];
  parts.forEach((part, i) => {
    let [place, from] = [places[i], part];
    places[i].strides.forEach((step, axis) => {
      if (step < 0) [place, from] = [view.flip(place, axis), from.with(view.flip(from, axis))];
    });
    const group = groups.find((g) => sameLayout(g.place, place));
    if (group) group.parts.push(from);
    else groups.push({ place, parts: [from] });
  });
  return groups;
}

function sameLayout(a: Layout, b: Layout): boolean {
  const same = (x: readonly number[], y: readonly number[]) =>
    x.length === y.length && x.every((n, axis) => n === y[axis]);
  return a.offset === b.offset && same(a.shape, b.shape) && same(a.strides, b.strides);
}

/** True when two views of one storage certainly share no element. */
function apart(a: Layout, b: Layout): boolean {
  return lastOf(a) < firstOf(b) || lastOf(b) < firstOf(a);
}

const reach = ({ shape, strides }: Layout, sign: number) =>
  shape.reduce((sum, size, axis) => sum + Math.max(0, sign * (size - 1) * strides[axis]), 0);
const firstOf = (l: Layout) => l.offset - reach(l, -1);
const lastOf = (l: Layout) => l.offset + reach(l, 1);

/** to = x summed over the axes along which `to` was broadcast to x's shape. */
export function sumTo(x: Tensor, to: Tensor): void {
  const simd = native();
  if (x.rank === to.rank && x.shape.every((size, axis) => size === to.shape[axis])) copy(x, to);
  else if (!simd || !sumOver(simd, x, to, 1)) plainSumTo(x, to);
}

/** The same in plain TypeScript. */
export function plainSumTo(x: Tensor, to: Tensor): void {
  const sums = new Float64Array(to.numel);
  const wide = expand(new Tensor(to.data, to.shape), x.shape);
  const values = x.toArray();
  const index = new Array<number>(x.rank).fill(0);
  for (let k = 0, at = 0; k < values.length; k++) {
    sums[at] += values[k];
    for (let axis = x.rank - 1; axis >= 0; axis--) {
      at += wide.strides[axis];
      if (++index[axis] < x.shape[axis]) break;
      at -= wide.strides[axis] * x.shape[axis];
      index[axis] = 0;
    }
  }
  write(sums, to);
}

/** Writes row-major values into a tensor of any strides. */
export function write(values: ArrayLike<number>, to: Tensor): void {
  let k = 0;
  to.forEachRow((at, step, length) => {
    for (let i = 0; i < length; i++, at += step) to.data[at] = values[k++];
  });
}
