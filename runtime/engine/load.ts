import { openCheckpoint } from '../checkpoint';
import { formatKeyReport, matchKeys } from '../checkpoint/match';
import { loadInput } from '../image/input';
import { initialValues, Random } from '../models/initialize';
import { visionMamba } from '../models/vim';
import { ModelBuilder } from '../program/modelBuilder';
import type { Program } from '../program/program';
import { numel, Tensor } from '../tensor/tensor';
import type { Execution } from './execution';
import { type ModelSpec, readModelSpec } from './modelSpec';
import { RunState } from './state';

/** What to run; paths are absolute. */
export interface LoadRequest {
  model: string | Record<string, unknown>;
  checkpoint?: string;
  input?: string;
  label?: number;
  seed: number;
}

/** A model that is ready to run. */
export interface Loaded {
  state: RunState;
  labels: string[];
  /** Class that each image of the batch should have, as far as known. */
  expected: number[];
  /** What was loaded and what to know about it, a line each. */
  notes: string[];
}

/** Tells how far loading is; may throw to cancel it. */
export type Progress = (step: string) => Promise<void>;

/**
 * Builds the model and fills it. Throws a `ConfigError`, `ShapeError`, `CheckpointError` or `InputError` with one
 * sentence; nothing of the model has run by then.
 */
export async function load(
  request: LoadRequest,
  readSource: (source: string) => string | undefined,
  progress: Progress,
): Promise<Loaded> {
  await progress('Reading the model');
  const spec = await readModelSpec(request.model);
  const notes: string[] = [];
  await progress('Reading the input');
  const given = await readInput(request, spec);
  notes.push(given.described);
  await progress('Building the program');
  const program = buildProgram(spec, given.input.shape);
  const state = new RunState(program, readSource);
  state.execution.fill(program.inputs['input'], given.input.toArray());
  await progress('Reading the weights');
  notes.push(...(await fillWeights(request, spec, program, state.execution)));
  const expected = request.label === undefined ? (given.labels ?? []) : [request.label];
  return { state, labels: spec.labels, expected, notes };
}

function buildProgram(spec: ModelSpec, shape: readonly number[]): Program {
  const p = new ModelBuilder();
  return p.build(spec.name, 'VisionMamba', () =>
    visionMamba(p, p.input('input', shape, ['B', 'C', 'H', 'W']), spec.config),
  );
}

async function readInput(
  request: LoadRequest,
  spec: ModelSpec,
): Promise<{ input: Tensor; labels?: number[]; described: string }> {
  const { channels, imgSize } = spec.config;
  if (request.input) return loadInput(request.input, { channels, imgSize, preprocess: spec.preprocess });
  const shape = [1, channels, imgSize, imgSize];
  const random = new Random('input', request.seed);
  const data = Float32Array.from({ length: numel(shape) }, () => random.truncatedNormal());
  return {
    input: new Tensor(data, shape),
    described: `No "input" was given: the image is noise from seed ${request.seed}.`,
  };
}

async function fillWeights(
  request: LoadRequest,
  spec: ModelSpec,
  program: Program,
  execution: Execution,
): Promise<string[]> {
  if (!request.checkpoint) {
    for (const { name, value, fallback } of program.parameters) {
      const scale = spec.config.mixer.initLayerScale;
      execution.fill(
        value,
        fallback ?? initialValues(name, value.shape, request.seed, spec.config.depth, scale),
      );
    }
    return [`No "checkpoint" was given: the weights are random, from seed ${request.seed}.`];
  }
  const checkpoint = await openCheckpoint(request.checkpoint);
  const expected = program.parameters.map(({ name, value, fallback }) => ({
    name,
    shape: value.shape,
    optional: fallback !== undefined,
  }));
  const report = matchKeys(expected, checkpoint.entries);
  if (!report.fits) throw new WeightsError(formatKeyReport(report));
  for (const { name, value, fallback } of program.parameters) {
    execution.fill(value, checkpoint.entries.get(name)?.load().toArray() ?? fallback!);
  }
  const notes = [
    `Weights: ${program.parameters.length} tensors from ${request.checkpoint} (${checkpoint.format}).`,
  ];
  if (report.unexpected.length > 0) notes.push(formatKeyReport(report));
  return notes;
}

/** The checkpoint does not fit the model; the message holds the headline and the table. */
export class WeightsError extends Error {}
