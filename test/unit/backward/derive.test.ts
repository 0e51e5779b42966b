import { describe, expect, it } from 'vitest';
import { Execution } from '../../../runtime/engine/execution';
import { deriveBackward, trainingStep } from '../../../runtime/program/backward';
import { ModelBuilder } from '../../../runtime/program/modelBuilder';
import type { Program } from '../../../runtime/program/program';
import { scopeChain } from '../../../runtime/program/scope';
import type { Value } from '../../../runtime/program/value';
import { numel } from '../../../runtime/tensor/tensor';
import { buildVimLoss } from '../goldenModels';

const SMALL = {
  img_size: 16,
  patch_size: 8,
  stride: 8,
  embed_dim: 8,
  depth: 2,
  num_classes: 4,
  use_middle_cls_token: true,
};

function vim(): { forward: Program; loss: Value } {
  const forward = buildVimLoss({ ...SMALL, bimamba_type: 'v2' }, [2, 3, 16, 16]);
  return { forward, loss: forward.outputs['loss'] };
}

function build(body: (p: ModelBuilder, x: Value) => Record<string, Value>): Program {
  const p = new ModelBuilder();
  return p.build('test', 'Test', () => body(p, p.input('x', [2, 3])));
}

const sum = (p: ModelBuilder, x: Value) => p.scale(p.mean(p.mean(x, 0), 0), numel(x.shape));

function filled(program: Program): Execution {
  const run = new Execution(program);
  const given = [...program.parameters.map((p) => p.value), ...Object.values(program.inputs)];
  given.forEach((value, k) => {
    const labels = value.name === 'labels';
    run.fill(
      value,
      Float32Array.from({ length: numel(value.shape) }, (_, i) => (labels ? i : Math.sin(i + k))),
    );
  });
  return run;
}

describe('the derived program', () => {
  it('goes backward over the sites of the forward ops', () => {
    const { forward, loss } = vim();
    const backward = deriveBackward(forward, loss);
    let last = Infinity;
    for (const op of backward.ops) {
      expect(op.pass).toBe('backward');
      const { module, scope, direction, trace, index } = op.forward!;
      expect(op).toMatchObject({ module, direction });
      expect(op.scope).toBe(scope);
      expect(op.trace).toBe(trace);
      expect(forward.ops[index]).toBe(op.forward);
      expect(index).toBeLessThanOrEqual(last);
      last = index;
    }
    expect(backward.ops.map((op) => op.index)).toEqual(backward.ops.map((_, i) => forward.ops.length + i));
    expect(backward.ops[0].kind.name).toBe('seed_grad');
    const scans = forward.ops.filter((op) => op.kind.name === 'selective_scan');
    const gradients = backward.ops.filter((op) => op.kind.name === 'selective_scan_grad');
    expect(gradients.map((op) => op.forward)).toEqual(scans.toReversed());
    expect(Object.keys(gradients[0].outputs)).toEqual(['du', 'ddelta', 'dA', 'dB', 'dC', 'dD', 'dz']);
  });

  it('enters and leaves scopes as a call stack does', () => {
    const { forward, loss } = vim();
    const backward = deriveBackward(forward, loss);
    const open: unknown[] = [];
    for (const event of backward.events) {
      if (event.kind === 'enter') {
        expect(event.scope.parent).toBe(open.at(-1));
        open.push(event.scope);
      } else if (event.kind === 'exit') expect(open.pop()).toBe(event.scope);
      else expect(open.toReversed()).toEqual(scopeChain(event.op.scope));
    }
    expect(open).toEqual([]);
  });

  it('reads only what was computed before, and writes each storage once', () => {
    const { forward, loss } = vim();
    const step = trainingStep(forward, loss);
    const known = new Set(
      [...step.parameters.map((p) => p.value), ...Object.values(step.inputs)].map((v) => v.storage),
    );
    for (const op of step.ops) {
      for (const value of Object.values(op.inputs)) expect(known.has(value.storage)).toBe(true);
      if (op.kind.view) continue;
      for (const value of Object.values(op.outputs)) {
        expect(known.has(value.storage)).toBe(false);
        known.add(value.storage);
      }
    }
    step.values.forEach((value, id) => {
      expect(value.id).toBe(id);
    });
  });

  it('runs after the forward pass as one program, with the same bits each time', () => {
    const { forward, loss } = vim();
    const step = trainingStep(forward, loss);
    expect(step.ops.slice(0, forward.ops.length)).toEqual(forward.ops);
    expect(step.scopes).toEqual(forward.scopes);
    expect(step.outputs).toBe(forward.outputs);
    const run = filled(step);
    run.runAll();
    const first = [...step.gradients.values()].map((v) => run.tensor(v).toArray().slice());
    for (const op of step.ops.toReversed()) run.run(op);
    run.runAll();
    expect([...step.gradients.values()].map((v) => run.tensor(v).toArray())).toEqual(first);
    const zero = [...step.gradients.keys()].filter((_, i) => first[i].every((x) => x === 0));
    expect(zero).toEqual([]);
  });

  it('has gradients of learned parameters and of inputs, not of labels and buffers', () => {
    const { forward, loss } = vim();
    const { gradients } = deriveBackward(forward, loss);
    expect([...gradients.keys()].sort()).toEqual([...forward.parameters.map((p) => p.name), 'input'].sort());
    const fixed = build((p, x) => ({
      loss: sum(p, p.mul(x, p.buffer('table', [3], Float32Array.of(1, 2, 3)))),
    }));
    expect([...deriveBackward(fixed, fixed.outputs['loss']).gradients.keys()]).toEqual(['x']);
  });
});

describe('what a value used several times gets', () => {
  it('is a sum, named after the value, of parts named after their uses', () => {
    const program = build((p, x) => {
      const y = p.exp(x);
      return { loss: sum(p, p.add(p.silu(y), p.softplus(y))) };
    });
    const backward = deriveBackward(program, program.outputs['loss']);
    const [total] = backward.ops.filter((op) => op.kind.name === 'sum_grad');
    expect(total.outputs['sum'].name).toBe('grad of exp');
    expect(Object.values(total.inputs).map((v) => v.name)).toEqual([
      'grad of exp by softplus',
      'grad of exp by silu',
    ]);
  });

  it('needs no op of its own when there is one use, through views too', () => {
    const program = build((p, x) => ({ loss: sum(p, p.exp(p.transpose(p.flip(x, 1), 0, 1))) }));
    const backward = deriveBackward(program, program.outputs['loss']);
    expect(backward.ops.map((op) => op.kind.name)).toEqual([
      'seed_grad',
      'scale_grad',
      'mean_grad',
      'mean_grad',
      'exp_grad',
    ]);
    const run = filled(backward);
    run.runAll(program);
    run.runAll();
    const x = run.tensor(program.inputs['x']).toArray();
    expect(run.tensor(backward.gradients.get('x')!).toArray()).toEqual(x.map(Math.exp));
  });

  it('is zero where no use reads', () => {
    const program = build((p, x) => ({ loss: sum(p, p.neg(p.slice(x, 1, 1, 2))) }));
    const backward = deriveBackward(program, program.outputs['loss']);
    const run = filled(backward);
    run.runAll(program);
    run.runAll();
    expect([...run.tensor(backward.gradients.get('x')!).toArray()]).toEqual([0, -1, 0, 0, -1, 0]);
  });
});

describe('what lies beside the way to the loss', () => {
  const program = build((p, x) => {
    const used = p.module('used', 'Used', { x }, () => p.exp(x));
    p.module('unused', 'Unused', { x }, () => p.mul(x, p.parameter('weight', [3])));
    return { loss: sum(p, used) };
  });

  it('is left out, and its parameters have no gradient', () => {
    const backward = deriveBackward(program, program.outputs['loss']);
    expect(backward.scopes.map((s) => s.path)).toEqual(['', 'used']);
    expect([...backward.gradients.keys()]).toEqual(['x']);
  });

  it('can be any number of the model instead of a loss', () => {
    const logits = build((p, x) => ({ one: p.select(p.select(p.linear(x, 'head', 4, true), 0, 1), 0, 2) }));
    const backward = deriveBackward(logits, logits.outputs['one']);
    const run = filled(backward);
    run.runAll(logits);
    run.runAll();
    expect([...run.tensor(backward.gradients.get('head.bias')!).toArray()]).toEqual([0, 0, 1, 0]);
  });
});

describe('what cannot be differentiated', () => {
  it('says so', () => {
    const program = build((p, x) => ({ y: p.exp(x) }));
    expect(() => deriveBackward(program, program.outputs['y'])).toThrow(
      'Gradients start from one number, but exp is [2, 3].',
    );
    const fixed = build((p) => ({ y: p.neg(p.buffer('one', [], Float32Array.of(1))) }));
    expect(() => deriveBackward(fixed, fixed.outputs['y'])).toThrow(
      'neg depends on no parameter and no input, so there are no gradients.',
    );
  });

  it('names a label that the model has no class for', () => {
    const program = buildVimLoss({ ...SMALL, bimamba_type: 'v2' }, [2, 3, 16, 16]);
    const run = filled(program);
    run.fill(program.inputs['labels'], Float32Array.of(1, 4));
    expect(() => run.runAll()).toThrow('Label 4 is not one of the 4 classes, 0 to 3.');
  });
});
