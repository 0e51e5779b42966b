import { expect, vi } from 'vitest';
import { Execution } from '../../../runtime/engine/execution';
import { deriveBackward } from '../../../runtime/program/backward';
import { ModelBuilder } from '../../../runtime/program/modelBuilder';
import type { Program } from '../../../runtime/program/program';
import type { Value } from '../../../runtime/program/value';
import { numel } from '../../../runtime/tensor/tensor';

/** Step of the central differences; their error is some STEP^2. */
const STEP = 1e-3;
/** Largest accepted |difference| / max(1, |slope|). */
const TOLERANCE = 1e-5;
/** Elements compared per tensor. */
const SAMPLES = 8;

/** Shapes of the inputs, and ranges of their values where [-1, 1] does not do. */
export interface Check {
  shapes: Record<string, readonly number[]>;
  ranges?: Record<string, readonly [number, number]>;
  seed: number;
}

/**
 * Compares the gradients of everything that `body` builds with central differences of a weighted sum of its output.
 * Kernels and storages run in float64, so that the differences mean something.
 */
export function checkGradients(
  check: Check,
  body: (p: ModelBuilder, x: Record<string, Value>) => Value,
): void {
  vi.stubGlobal('Float32Array', Float64Array);
  try {
    const forward = buildSum(check, body);
    const backward = deriveBackward(forward, forward.outputs['loss']);
    const run = new Execution(backward);
    fill(run, forward, check);
    run.runAll(forward);
    run.runAll();
    for (const [name, gradient] of backward.gradients) {
      const value = forward.parameter(name)?.value ?? forward.inputs[name];
      expect(gradient.shape).toEqual(value.shape);
      compare(run, forward, value, run.tensor(gradient).toArray());
    }
  } finally {
    vi.unstubAllGlobals();
  }
}

/** loss = sum over all elements of the output times a weight of its own. */
function buildSum(check: Check, body: (p: ModelBuilder, x: Record<string, Value>) => Value): Program {
  const p = new ModelBuilder();
  return p.build('check', 'Check', () => {
    const inputs = Object.entries(check.shapes).map(([name, shape]) => [name, p.input(name, shape)] as const);
    const y = body(p, Object.fromEntries(inputs));
    let loss = p.mul(y, p.input('weights', y.shape));
    while (loss.shape.length > 0) loss = p.mean(loss, 0);
    return { loss: p.scale(loss, numel(y.shape)) };
  });
}

function fill(run: Execution, program: Program, { ranges, seed }: Check): void {
  const random = randomFrom(seed);
  for (const p of program.parameters)
    run.fill(p.value, p.fallback ?? spread(numel(p.value.shape), [-1, 1], random));
  for (const [name, value] of Object.entries(program.inputs))
    run.fill(value, spread(numel(value.shape), ranges?.[name] ?? [-1, 1], random));
}

/** Evenly spread values in random order: no two are so close that a step could make them change places. */
function spread(n: number, [low, high]: readonly [number, number], random: () => number): Float32Array {
  const values = Array.from({ length: n }, (_, i) => low + ((i + 0.5) / n) * (high - low));
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [values[i], values[j]] = [values[j], values[i]];
  }
  return Float32Array.from(values);
}

function randomFrom(seed: number): () => number {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(1664525, s) + 1013904223) >>> 0;
    return s / 2 ** 32;
  };
}

function compare(run: Execution, forward: Program, value: Value, gradient: Float32Array): void {
  const { data } = run.tensor(value);
  const lossAt = (i: number, x: number) => {
    data[i] = x;
    run.runAll(forward);
    return run.tensor(forward.outputs['loss']).toArray()[0];
  };
  for (let i = 0; i < data.length; i += Math.ceil(data.length / SAMPLES)) {
    const x = data[i];
    const slope = (lossAt(i, x + STEP) - lossAt(i, x - STEP)) / (2 * STEP);
    data[i] = x;
    const apart = Math.abs(slope - gradient[i]) / Math.max(1, Math.abs(slope));
    expect(apart, `grad of ${value.name}[${i}]: ${gradient[i]}, by differences ${slope}`).toBeLessThan(
      TOLERANCE,
    );
  }
}
