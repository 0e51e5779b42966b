import { describe, expect, it } from 'vitest';
import { Execution } from '../../../runtime/engine/execution';
import { compileExpression } from '../../../runtime/engine/loss/expressionOps';
import { buildOwnLoss } from '../../../runtime/engine/loss/own';
import { evaluate, parseExpression, TensorValue } from '../../../runtime/expression';
import { trainingStep } from '../../../runtime/program/backward';
import { ModelBuilder } from '../../../runtime/program/modelBuilder';
import type { Value } from '../../../runtime/program/value';
import { Tensor } from '../../../runtime/tensor/tensor';
import { checkGradients } from './numerical';

const SHAPE = [3, 4, 5];
const LOGITS = Float32Array.from({ length: 60 }, (_, i) => 0.2 + Math.abs(Math.sin(1.7 * i)));

/** Losses as people write them; the value of each is what the condition language says. */
const LOSSES = [
  'logits[0, 3, 1]',
  'logits[-1, -2, -3]',
  'logits.mean()',
  'mean(logits)',
  'torch.sum(logits)',
  'logits[:, 3].sum() - logits[:, 1].sum()',
  '(logits ** 2).mean()',
  'logits.max()',
  'logits.min()',
  'logits.amax(dim=(0, 2)).sum()',
  'logits.sum(-1).max()',
  'logits.mean(dim=1, keepdim=True).norm()',
  '(logits - logits.mean(-1, keepdim=True)).abs().sum()',
  '(logits / logits.sum(dim=-1, keepdim=True)).log().mean()',
  '-logits[..., ::2].exp().sum()',
  'logits[0, 1:3, None].tanh().sum() + logits[1:, 0].sigmoid().sum()',
  '1 / logits[0, 0, 0] + 2 ** logits[0, 0, 1] - 3 * logits[0, 0, 2] / 4',
  '(1 - logits.square()).relu().sum() / logits.shape[0]',
  '2 - logits.sqrt().absmax()',
  'abs(logits[1][label]).sum()',
  '-logits.log_softmax(-1)[0, 1, label]',
  'logits.softmax(dim=1)[..., label].sum()',
];

/** Names of the condition language's own, so that the softmaxes can be compared too. */
function reference(text: string): string {
  const softmax = '((logits - logits.max()).exp() / (logits - logits.max()).exp().sum(DIM, keepdim=True))';
  return text
    .replace('logits.log_softmax(-1)', `${softmax.replace('DIM', '-1')}.log()`)
    .replace('logits.softmax(dim=1)', softmax.replace('DIM', '1'));
}

function expectedOf(text: string): number {
  const scope = new Map<string, TensorValue | number>([
    ['logits', new TensorValue(new Tensor(LOGITS, SHAPE))],
    ['label', 2],
  ]);
  const value = evaluate(parseExpression(reference(text)), {
    get: (name) => scope.get(name),
    names: () => [...scope.keys()],
  });
  return value instanceof TensorValue ? value.item() : (value as number);
}

function build(text: string, shape: readonly number[] = SHAPE) {
  const p = new ModelBuilder();
  return p.build('model', 'Model', () => {
    const logits = p.scale(p.input('input', shape), 1);
    const names = new Map<string, Value | number>([
      ['logits', logits],
      ['label', 2],
    ]);
    return { logits, loss: buildOwnLoss(p, parseExpression(text), logits, names) };
  });
}

describe('a loss written as an expression', () => {
  it.each(LOSSES)('%s has the value that the condition language gives', (text) => {
    const program = build(text);
    const run = new Execution(program);
    run.fill(program.inputs['input'], LOGITS.slice());
    run.runAll();
    const [loss] = run.tensor(program.outputs['loss']).toArray();
    expect(Math.abs(loss / expectedOf(text) - 1)).toBeLessThan(1e-5);
  });

  it.each(LOSSES)('%s has the gradient that differences give', (text) => {
    const ranges = { logits: [0.3, 1.8] } as const;
    checkGradients({ shapes: { logits: SHAPE }, ranges, seed: 5 }, (p, { logits }) => {
      const names = new Map<string, Value | number>([
        ['logits', logits],
        ['label', 2],
      ]);
      return compileExpression(p, parseExpression(text), names) as Value;
    });
  });

  it('is ops of the program in a module of its own, stepped like any', () => {
    const program = build('(logits ** 2).mean()', [2, 3]);
    const step = trainingStep(program, program.outputs['loss']);
    const ops = step.ops.filter((op) => op.module === 'loss').map((op) => op.kind.name);
    expect(ops).toEqual(['pow', 'mean', 'mean', 'seed_grad', 'mean_grad', 'mean_grad', 'pow_grad']);
    expect(step.ops.find((op) => op.kind.name === 'pow')!.trace.at(-1)![0].source).toBe(
      'runtime/models/loss.ts',
    );
  });

  it('moves no data to index', () => {
    const program = build('logits[1, ::2][0]', [2, 4]);
    expect(program.ops.filter((op) => op.module === 'loss' && !op.kind.view)).toEqual([]);
    const step = trainingStep(program, program.outputs['loss']);
    const run = new Execution(step);
    run.fill(program.inputs['input'], new Float32Array(8));
    run.runAll();
    expect([...run.tensor(step.gradients.get('input')!).toArray()]).toEqual([0, 0, 0, 0, 1, 0, 0, 0]);
  });

  it.each([
    ['logits[0]', 'it gives a tensor of shape [4, 5], not one number; end it with .sum() or .mean()'],
    ['logits[0, 9, 1]', 'Index 9 is out of range for an axis of size 4.'],
    ['logits[0, 0, 0, 0]', 'There are 4 indices for a tensor of shape (3, 4, 5).'],
    ['logits[:, 4:, 0].sum()', 'A slice takes no element of an axis of size 4.'],
    ['logits[:, ::-1].sum()', 'The step of a tensor slice must be above 0'],
    ['logits.sum(3)', 'dim=3 does not exist in a tensor of rank 3'],
    ['logits.men()', 'men cannot be used in a loss; did you mean mean?'],
    ['logits.argmax()', 'argmax cannot be used in a loss'],
    ['logits.mean', '.mean is a method; write .mean().'],
    ['logist.mean()', 'logist is not known here; did you mean logits?'],
    ['logits > 3', 'comparisons and choices have no gradient'],
    ['logits % 2', '"%" has no gradient; a loss is made of + - * / and **.'],
    ['logits ** logits', '"**" needs a number on one side.'],
    ['logits[0, logits]', 'Only whole numbers and slices can stand here, not a tensor.'],
    ['logits.shape[0]', 'no tensor of the model is in it, so it has no gradient.'],
    ['(logits[:, 0] + logits[0, :, :3]).sum()', 'add cannot broadcast [3, 5] and [4, 3]'],
  ])('%s is refused in one sentence', (text, words) => {
    const message = messageOf(() => build(text));
    expect(message).toContain(`The loss "${text}" cannot be used: `);
    expect(message).toContain(words);
    expect(message).toMatch(/[^.]\.$/);
    expect(message).not.toContain('\n');
  });
});

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was thrown';
}
