import type { Program } from '../program/program';
import type { Scope } from '../program/scope';

/**
 * Storages that one top-level module of the model computes and another one reads, e.g. the residual stream between
 * blocks and its gradients. With them in memory, anything else is at most one block of work away.
 */
export function findAnchors(program: Program): ReadonlySet<number> {
  const madeIn = new Map<number, string>();
  const anchors = new Set<number>();
  for (const op of program.ops) {
    const place = `${topLevel(op.scope)} ${op.pass ?? 'forward'}`;
    for (const { storage } of Object.values(op.inputs)) {
      if (
        madeIn.has(storage) &&
        madeIn.get(storage) !== place &&
        !readsForward(op.pass, madeIn.get(storage)!)
      )
        anchors.add(storage);
    }
    if (op.kind.run) for (const { storage } of Object.values(op.outputs)) madeIn.set(storage, place);
  }
  return anchors;
}

/** The backward pass reads most of what the forward pass computed; that alone is no reason to keep it. */
function readsForward(pass: string | undefined, madeIn: string): boolean {
  return pass === 'backward' && madeIn.endsWith(' forward');
}

/**
 * The fewest bytes that a run needs so that computing a dropped result again drops nothing that this needs: all
 * anchors, and twice what the largest top-level module computes.
 */
export function smallestLimit(program: Program, anchors: ReadonlySet<number>): number {
  const bytesOf = (storage: number) => 4 * program.storageSizes[storage];
  const modules = new Map<string, number>();
  for (const op of program.ops) {
    if (!op.kind.run) continue;
    const place = topLevel(op.scope);
    const bytes = Object.values(op.outputs).reduce((sum, { storage }) => sum + bytesOf(storage), 0);
    modules.set(place, bytes + (modules.get(place) ?? 0));
  }
  const kept = [...anchors].reduce((sum, storage) => sum + bytesOf(storage), 0);
  return kept + 2 * Math.max(0, ...modules.values());
}

function topLevel(scope: Scope): string {
  let top = scope;
  while (top.parent?.parent) top = top.parent;
  return top.path;
}
