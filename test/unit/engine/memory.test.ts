import { afterEach, describe, expect, it } from 'vitest';
import { findAnchors } from '../../../runtime/engine/anchors';
import { Execution, type Keep } from '../../../runtime/engine/execution';
import { native, useNative } from '../../../runtime/kernels/native';
import { useNativeFolder } from '../../../runtime/kernels/native/file';
import { initialValues } from '../../../runtime/models/initialize';
import { trainingStep } from '../../../runtime/program/backward';
import type { Program } from '../../../runtime/program/program';
import { numel } from '../../../runtime/tensor/tensor';
import { buildVimLoss } from '../goldenModels';

const dist = new URL('../../../dist', import.meta.url).pathname;
const SMALL = {
  img_size: 32,
  patch_size: 8,
  stride: 8,
  embed_dim: 24,
  depth: 4,
  num_classes: 5,
  bimamba_type: 'v2',
  final_pool_type: 'mean',
};

function training(): Program {
  const forward = buildVimLoss(SMALL, [2, 3, 32, 32]);
  return trainingStep(forward, forward.outputs['loss']);
}

function filled(program: Program, keep?: Keep): Execution {
  const run = new Execution(program, keep);
  for (const { name, value, fallback } of program.parameters)
    run.fill(value, fallback ?? initialValues(name, value.shape, 3, 4, 1));
  const { input, labels } = program.inputs;
  run.fill(
    input,
    Float32Array.from({ length: numel(input.shape) }, (_, i) => Math.sin(i)),
  );
  run.fill(labels, Float32Array.of(1, 4));
  return run;
}

describe('memory for stepping back', () => {
  afterEach(() => {
    useNative([]);
  });

  it.each([false, true])(
    'keeps a run below its limit and gives every tensor bit by bit (SIMD: %s)',
    (simd) => {
      if (simd) expect(useNativeFolder(dist)).toBeDefined();
      const program = training();
      const all = filled(program);
      all.runAll();
      const bytes = all.peakBytes;
      for (const share of [2, 5, 20]) {
        const limit = bytes / share;
        const run = filled(program, { limit });
        run.runAll();
        // The result of the op that runs comes on top, and the limit has a lower end.
        expect(run.peakBytes).toBeLessThan(run.limit + bytes / 20);
        expect(run.limit).toBeLessThan(Math.max(limit + 1, 0.7 * bytes));
        for (const op of program.ops.toReversed()) {
          for (const value of Object.values(op.outputs)) {
            if (!run.has(value)) continue;
            const [again, first] = [run.tensor(value).toArray(), all.tensor(value).toArray()];
            expect(
              again.every((x, i) => Object.is(x, first[i])),
              `${op.module} ${op.kind.name}`,
            ).toBe(true);
          }
          run.letGo();
        }
        run.dispose();
      }
      all.dispose();
      if (simd) expect(native()!.memory.used).toBeLessThan(2 ** 20);
    },
  );

  it('keeps in a lean run only what is still read, and computes the rest again', () => {
    const program = training();
    const [all, lean] = [filled(program), filled(program, { lean: true })];
    all.runAll();
    lean.runAll();
    expect(lean.peakBytes).toBeLessThan(0.7 * all.peakBytes);
    for (const op of program.ops.filter((o) => o.kind.run)) {
      const [value] = Object.values(op.outputs);
      expect(lean.tensor(value).toArray(), `${op.module} ${op.kind.name}`).toEqual(
        all.tensor(value).toArray(),
      );
      lean.letGo();
    }
  });

  it('does not drop a tensor while somebody looks at it', () => {
    const program = training();
    const run = filled(program, { limit: 1 });
    const [first] = program.ops.filter((op) => op.kind.run);
    run.run(first);
    const looked = run.tensor(first.outputs['y']);
    const before = looked.toArray().slice();
    run.runAll();
    expect(looked.toArray()).toEqual(before);
    expect(run.tensor(first.outputs['y']).data).toBe(looked.data);
  });

  it('drops what lies between blocks last', () => {
    const program = training();
    const anchors = findAnchors(program);
    for (const scope of program.scopes.filter((s) => s.kind === 'Block').slice(0, -1))
      expect(anchors.has(scope.outputs['hidden'].storage), scope.path).toBe(true);
    const scans = program.ops.filter((op) => op.kind.name === 'selective_scan');
    for (const op of scans) expect(anchors.has(op.outputs['y'].storage)).toBe(false);
    const gradients = program.values.filter((v) => v.name.startsWith('grad of') && anchors.has(v.storage));
    expect(gradients.length).toBeGreaterThan(0);
  });
});
